package import Base
import CSystemd
import Glibc
package import System

/// The loop of the one thread that decides. Descriptors, timers on CLOCK_BOOTTIME, signals and wake-ups from other
/// threads become calls, one at a time. A thin owner of libsystemd's sd-event; `Docs/architecture.md` says why.
///
/// Not `Sendable` on purpose: everything but a `Waker` belongs to the thread that made the loop. A registration lasts
/// as long as the object that `watch`, `timer` or `onSignal` returned.
package final class EventLoop {
    let handle: OpaquePointer
    /// The longest time, and the longest time of a processor, for which one handler has delayed all others since `run` began. They
    /// may be of two turns.
    package private(set) var longestTurn = Turn(elapsed: .zero, processor: .zero)
    /// Called after a handler that took longer than `slowTurn`.
    package var onSlowTurn: ((Turn) -> Void)?
    /// Advertisements come every tenth of a second and wait in the socket meanwhile.
    package static let slowTurn: Duration = .milliseconds(100)

    /// How long one handler kept the loop. A turn that takes long and has little time of a processor waited: for a disk, or for a
    /// processor that other programs had.
    package struct Turn {
        package var elapsed: Duration
        package var processor: Duration

        package init(elapsed: Duration, processor: Duration) {
            self.elapsed = elapsed
            self.processor = processor
        }

        /// The larger of each of the two.
        fileprivate func longer(_ other: Turn) -> Turn {
            Turn(elapsed: max(elapsed, other.elapsed), processor: max(processor, other.processor))
        }
    }

    /// - Throws: the error of `sd_event_new`: no descriptors or memory left.
    package init() throws(SystemError) {
        var event: OpaquePointer?
        try checked("sd_event_new", sd_event_new(&event))
        guard let event else { throw SystemError("sd_event_new", code: ENOMEM) }
        handle = event
    }

    deinit { sd_event_unref(handle) }

    /// Runs until `exit(_:)` and returns the code given to it.
    package func run() throws(SystemError) -> Int32 {
        // Like sd_event_loop, but it reads the clocks before and after each handler. The kernel is asked once a turn for the time of
        // the processor, as that is a system call: a turn's time of the processor is counted with the search for the event.
        var processorBefore = Clocks.threadProcessorTime()
        while sd_event_get_state(handle) != SD_EVENT_FINISHED {
            if try checked("sd_event_prepare", sd_event_prepare(handle)) == 0 {
                guard try checked("sd_event_wait", sd_event_wait(handle, UInt64.max)) > 0 else { continue }
            }
            let began = Clocks.now()
            try checked("sd_event_dispatch", sd_event_dispatch(handle))
            let processorAfter = Clocks.threadProcessorTime()
            let turn = Turn(elapsed: began.duration(to: Clocks.now()), processor: processorAfter - processorBefore)
            processorBefore = processorAfter
            longestTurn = longestTurn.longer(turn)
            if turn.elapsed > Self.slowTurn { onSlowTurn?(turn) }
        }
        var code: Int32 = 0
        try checked("sd_event_get_exit_code", sd_event_get_exit_code(handle, &code))
        return code
    }

    /// Handles at most one event, waiting up to `timeout` for it.
    ///
    /// - Returns: whether an event was handled.
    package func step(timeout: Duration) throws(SystemError) -> Bool {
        let microseconds = UInt64(max(0, timeout.nanoseconds / 1_000))
        return try checked("sd_event_run", sd_event_run(handle, microseconds)) > 0
    }

    /// Handles events until `isDone` (called before each) is true, or until `end`.
    package func step(until end: MonotonicInstant, unless isDone: () -> Bool) throws(SystemError) {
        while !isDone() {
            let left = Clocks.now().duration(to: end)
            guard left > .zero else { return }
            _ = try step(timeout: left)
        }
    }

    /// Ends `run()` after the handler that is running now.
    ///
    /// - Parameter code: the process exit code, 0 … 255.
    package func exit(_ code: Int32) {
        // Fails only in a forked child or when the loop has already ended; neither needs handling.
        _ = sd_event_exit(handle, code)
    }

    /// Lets the loop feed systemd's watchdog itself, so that systemd notices a loop that hangs: sd-event wakes between
    /// one half and three quarters of the interval, and only from its own iteration.
    ///
    /// - Returns: false if the service manager requires no watchdog (`WATCHDOG_USEC` unset).
    @discardableResult
    package func feedWatchdog() throws(SystemError) -> Bool {
        try checked("sd_event_set_watchdog", sd_event_set_watchdog(handle, 1)) > 0
    }

    /// Calls `handler` on this thread as long as `descriptor` is ready (level-triggered).
    ///
    /// The caller owns the descriptor and must drop the watch before closing it.
    /// - Throws: EPERM for what cannot be polled, such as a regular file; EEXIST for a second watch on one descriptor.
    package func watch(
        _ descriptor: Int32, for interest: Readiness = .readable, _ handler: @escaping (Readiness) -> Void
    ) throws(SystemError) -> DescriptorWatch {
        try DescriptorWatch(loop: self, descriptor: descriptor, interest: interest, handler: handler)
    }

    /// A timer that is off until armed; it fires once per arming.
    ///
    /// - Parameter tolerance: how much later than requested it may fire, so that timers share a wake-up; at least 1 µs.
    package func timer(
        tolerance: Duration = .milliseconds(10), _ handler: @escaping (MonotonicInstant) -> Void
    ) throws(SystemError) -> LoopTimer {
        try LoopTimer(loop: self, tolerance: tolerance, handler: handler)
    }

    /// Turns a signal into an ordinary event.
    ///
    /// Blocks the signal in the calling thread, so call it before any other thread starts: if one thread does not block
    /// the signal, its default action happens and the loop does not see it.
    package func onSignal(_ number: Int32, _ handler: @escaping () -> Void) throws(SystemError) -> SignalWatch {
        try SignalWatch(loop: self, signal: number, handler: handler)
    }
}
