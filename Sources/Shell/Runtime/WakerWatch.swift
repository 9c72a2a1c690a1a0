package import System

/// The loop's end of a waker, for the life of this object.
package final class WakerWatch {
    /// The end to hand to other threads.
    package let waker: Waker
    private let watch: DescriptorWatch

    init(loop: EventLoop, handler: @escaping () -> Void) throws(SystemError) {
        let waker = try Waker()
        self.waker = waker
        watch = try loop.watch(waker.descriptor) { _ in
            // Cleared first, so that a wake-up while the handler runs is not lost.
            waker.clear()
            handler()
        }
    }
}

extension EventLoop {
    /// A waker that any thread may use to make this thread call `handler`. Simultaneous wake-ups cause one call.
    package func waker(_ handler: @escaping () -> Void) throws(SystemError) -> WakerWatch {
        try WakerWatch(loop: self, handler: handler)
    }
}
