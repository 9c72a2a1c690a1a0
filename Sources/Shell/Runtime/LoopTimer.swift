package import Base
import CSystemd
package import System

/// A one-shot timer on CLOCK_BOOTTIME that can be armed again at any time, for the life of this object.
package final class LoopTimer {
    private let loop: EventLoop
    private var source: OpaquePointer?
    fileprivate let handler: (MonotonicInstant) -> Void

    init(
        loop: EventLoop, tolerance: Duration, handler: @escaping (MonotonicInstant) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.handler = handler
        // An accuracy of 0 would mean sd-event's default of 250 ms.
        let accuracy = UInt64(max(1, tolerance.nanoseconds / 1_000))
        let context = Unmanaged.passUnretained(self).toOpaque()
        try checked(
            "sd_event_add_time",
            sd_event_add_time(loop.handle, &source, CLOCK_BOOTTIME, UInt64.max, accuracy, timerElapsed, context))
        try checked("sd_event_source_set_enabled", sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF)))
    }

    deinit { sd_event_source_disable_unref(source) }

    /// Handles this source after everything else that is ready at the same time.
    package func goLast() throws(SystemError) { try putLast(source) }

    /// Handles this timer after everything of the usual priority that is ready at the same time.
    package func goAfterOthers() throws(SystemError) {
        try checked("sd_event_source_set_priority", sd_event_source_set_priority(source, 10))
    }

    /// Fires once at `instant`, or at once if that has passed; replaces an earlier arming.
    package func arm(at instant: MonotonicInstant) throws(SystemError) {
        // Rounded up: if the timer fired a microsecond early, the owner would find nothing due and arm it again,
        // repeatedly.
        let nanoseconds = UInt64(max(0, instant.nanoseconds))
        let microseconds = nanoseconds / 1_000 + (nanoseconds % 1_000 == 0 ? 0 : 1)
        try checked("sd_event_source_set_time", sd_event_source_set_time(source, microseconds))
        try checked(
            "sd_event_source_set_enabled", sd_event_source_set_enabled(source, Int32(SD_EVENT_ONESHOT)))
    }

    /// Fires once after `delay` from now.
    package func arm(after delay: Duration) throws(SystemError) {
        try arm(at: Clocks.now().advanced(by: delay))
    }

    /// Disarms the timer.
    package func disarm() {
        // Disabling a valid source cannot fail.
        _ = sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF))
    }
}

private func timerElapsed(
    _ source: OpaquePointer?, _ microseconds: UInt64, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    let timer = Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue()
    timer.handler(Clocks.now())
    return 0
}
