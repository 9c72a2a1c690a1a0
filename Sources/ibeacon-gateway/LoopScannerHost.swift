internal import Beacon
internal import Runtime
internal import Scanning

/// Gives scanners what they need of the event loop.
final class LoopScannerHost: ScannerHost {
    private let loop: EventLoop
    private let log: Log

    init(loop: EventLoop, log: Log) {
        self.loop = loop
        self.log = log
    }

    var now: MonotonicInstant { Clocks.now() }

    func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any ScannerToken {
        LoopToken.descriptor(descriptor, loop, log, handler)
    }

    func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any ScannerToken {
        LoopToken.timer(instant, loop, log, handler)
    }
}

/// Owns one registration with the loop until it is cancelled.
final class LoopToken: ScannerToken {
    private var registration: AnyObject?

    /// - Parameter goesLast: Everything else that is ready goes first.
    static func descriptor(
        _ descriptor: CInt, _ loop: EventLoop, _ log: Log, goesLast: Bool = false, _ handler: @escaping () -> Void
    ) -> LoopToken {
        let token = LoopToken()
        token.attach(log, "watch a descriptor") { () throws(SystemError) in
            let watch = try loop.watch(descriptor) { _ in handler() }
            if goesLast { try watch.goLast() }
            return watch
        }
        return token
    }

    static func timer(
        _ instant: MonotonicInstant, _ loop: EventLoop, _ log: Log, goesLast: Bool = false,
        _ handler: @escaping () -> Void
    ) -> LoopToken {
        // The timer must outlive this call and go when it has fired: the token holds it, and it the token.
        let token = LoopToken()
        token.attach(log, "set a timer") { () throws(SystemError) in
            let timer = try loop.timer { _ in
                token.cancel()
                handler()
            }
            if goesLast { try timer.goLast() }
            try timer.arm(at: instant)
            return timer
        }
        return token
    }

    private func attach(_ log: Log, _ action: String, _ register: () throws(SystemError) -> AnyObject) {
        do throws(SystemError) {
            registration = try register()
        } catch {
            log.error("cannot \(action): \(error)")
        }
    }

    func cancel() { registration = nil }
}
