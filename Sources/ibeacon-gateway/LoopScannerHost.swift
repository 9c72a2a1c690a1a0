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
        Token(log, "watch a descriptor") { () throws(SystemError) in try self.loop.watch(descriptor) { _ in handler() }
        }
    }

    func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any ScannerToken {
        // The timer must outlive this call and go when it has fired: the token holds it, and it the token.
        let token = Token()
        token.attach(log, "set a timer") { () throws(SystemError) in
            let timer = try self.loop.timer { _ in
                token.cancel()
                handler()
            }
            try timer.arm(at: instant)
            return timer
        }
        return token
    }
}

/// Owns one registration with the loop until it is cancelled.
private final class Token: ScannerToken {
    private var registration: AnyObject?

    init() {}

    convenience init(_ log: Log, _ action: String, _ register: () throws(SystemError) -> AnyObject) {
        self.init()
        attach(log, action, register)
    }

    func attach(_ log: Log, _ action: String, _ register: () throws(SystemError) -> AnyObject) {
        do throws(SystemError) {
            registration = try register()
        } catch {
            log.error("cannot \(action): \(error)")
        }
    }

    func cancel() { registration = nil }
}
