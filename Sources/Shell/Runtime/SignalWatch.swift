import CSystemd
import System

/// A signal as an event, for the life of this object. The signal stays blocked after that.
package final class SignalWatch {
    private let loop: EventLoop
    private var source: OpaquePointer?
    fileprivate let handler: () -> Void

    init(loop: EventLoop, signal: Int32, handler: @escaping () -> Void) throws(SystemError) {
        self.loop = loop
        self.handler = handler
        // sd-event refuses (EBUSY) a signal that is not blocked.
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        let blocked = pthread_sigmask(SIG_BLOCK, &set, nil)
        guard blocked == 0 else { throw SystemError("pthread_sigmask", code: blocked) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        try checked(
            "sd_event_add_signal", sd_event_add_signal(loop.handle, &source, signal, signalArrived, context))
    }

    deinit { sd_event_source_disable_unref(source) }
}

private func signalArrived(
    _ source: OpaquePointer?, _ info: UnsafePointer<signalfd_siginfo>?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<SignalWatch>.fromOpaque(context).takeUnretainedValue().handler()
    return 0
}
