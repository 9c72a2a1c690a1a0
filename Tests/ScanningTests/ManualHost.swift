import Base
import Beacon
import Scanning

/// A host whose time moves only when the test says so.
final class ManualHost: ScannerHost {
    private final class Token: ScannerToken {
        var isCancelled = false
        func cancel() { isCancelled = true }
    }

    var now = MonotonicInstant.zero
    private var timers: [(due: MonotonicInstant, token: Token, handler: () -> Void)] = []

    func whenReadable(_ descriptor: CInt, _ handler: @escaping () -> Void) -> any ScannerToken { Token() }

    func at(_ instant: MonotonicInstant, _ handler: @escaping () -> Void) -> any ScannerToken {
        let token = Token()
        timers.append((instant, token, handler))
        return token
    }

    func advance(by duration: Duration) {
        let end = now.advanced(by: duration)
        while let next = timers.filter({ !$0.token.isCancelled && $0.due <= end }).min(by: { $0.due < $1.due }) {
            now = max(now, next.due)
            next.token.cancel()
            next.handler()
        }
        timers.removeAll { $0.token.isCancelled }
        now = end
    }
}
