import CSystemd
package import System

/// A watched descriptor, for the life of this object.
package final class DescriptorWatch {
    private let loop: EventLoop
    private var source: OpaquePointer?
    fileprivate let handler: (Readiness) -> Void

    init(
        loop: EventLoop, descriptor: Int32, interest: Readiness, handler: @escaping (Readiness) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.handler = handler
        let context = Unmanaged.passUnretained(self).toOpaque()
        try checked(
            "sd_event_add_io",
            sd_event_add_io(loop.handle, &source, descriptor, interest.rawValue, descriptorReady, context))
    }

    deinit { sd_event_source_disable_unref(source) }

    /// Handles this source after everything else that is ready at the same time.
    package func goLast() throws(SystemError) { try putLast(source) }

    /// Changes the watched conditions; an empty set pauses all except failures.
    package func update(_ interest: Readiness) throws(SystemError) {
        try checked("sd_event_source_set_io_events", sd_event_source_set_io_events(source, interest.rawValue))
    }
}

private func descriptorReady(
    _ source: OpaquePointer?, _ descriptor: Int32, _ events: UInt32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    let watch = Unmanaged<DescriptorWatch>.fromOpaque(context).takeUnretainedValue()
    watch.handler(Readiness(rawValue: events))
    return 0
}
