package import Base
import Glibc
package import Runtime
package import System

/// The host of a service in a process: the event loop.
package final class EventLoopHost: ServiceHost {
    private let loop: EventLoop
    private let log: Log
    private let notifier = ServiceNotifier()
    package let bootID: String
    /// The offset of local time and the epoch seconds for which it need not be read again: that takes fifty look-ups.
    private var localOffset: (value: UTCOffset, isRead: Range<Int64>) = (.zero, 0..<0)

    /// - Throws: if the boot id cannot be read.
    package init(loop: EventLoop, log: Log) throws(Failure) {
        self.loop = loop
        self.log = log
        let bytes = try FileAccess.read("/proc/sys/kernel/random/boot_id")
        bootID = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    package var now: MonotonicInstant { Clocks.now() }
    package var hardware: String? { Hardware.digest() }
    package var suspended: Duration { Clocks.suspended() }

    package var wallClock: WallClock {
        var clock = WallClockTrustPolicy.read()
        let epoch = clock.epochSeconds(at: now)
        if !localOffset.isRead.contains(epoch) {
            // The setting of the time zone may have changed.
            tzset()
            localOffset = (UTCOffset(around: epoch, Clocks.secondsEast), epoch..<epoch + 3600)
        }
        clock.utcOffset = localOffset.value
        return clock
    }

    package func timer(
        tolerance: Duration, isLast: Bool, _ handler: @escaping (MonotonicInstant) -> Void
    ) -> any ServiceTimer {
        do throws(SystemError) {
            let timer = try loop.timer(tolerance: tolerance, handler)
            if isLast { try timer.goAfterOthers() }
            return EventLoopTimer(timer, log)
        } catch {
            log.error("cannot make a timer: \(error)")
            return EventLoopTimer(nil, log)
        }
    }

    package func report(_ phase: ServicePhase) {
        switch phase {
        case .ready(let status):
            notifier.ready(status: status)
            // A unit without a watchdog needs no keep-alive.
            _ = try? loop.feedWatchdog()
        case .reloading: notifier.reloading()
        case .reloaded: notifier.ready()
        case .stopping:
            notifier.stopping()
            let turn = loop.longestTurn
            // They may be of two turns.
            log.always(
                .debug,
                "longest turn of the loop: \(milliseconds(turn.elapsed)) ms; the most that a turn computed: \(milliseconds(turn.processor)) ms"
            )
        }
    }

    package func releaseMemory() { Heap.release() }

    package func exit(_ code: ExitCode) { loop.exit(code.rawValue) }
}

/// Whole milliseconds, rounded up.
private func milliseconds(_ duration: Duration) -> Int64 { Int64((duration / .milliseconds(1)).rounded(.up)) }

/// A timer of the event loop. The kernel refuses to arm a valid timer only if memory is short; then this is logged.
private final class EventLoopTimer: ServiceTimer {
    private let timer: LoopTimer?
    private let log: Log

    init(_ timer: LoopTimer?, _ log: Log) {
        self.timer = timer
        self.log = log
    }

    func arm(at instant: MonotonicInstant) {
        do throws(SystemError) {
            try timer?.arm(at: instant)
        } catch {
            log.error("cannot set a timer: \(error)")
        }
    }

    func arm(after delay: Duration) { arm(at: Clocks.now().advanced(by: delay)) }

    func disarm() { timer?.disarm() }
}
