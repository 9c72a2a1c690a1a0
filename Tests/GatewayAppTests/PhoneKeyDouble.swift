import Gateway
import GatewayApp

/// Stores keys of phones at once, or when the test says so.
final class PhoneKeyDouble: PhoneKeyLink {
    /// Whether changes wait for `finish`.
    var isSlow = false
    private var waiting: (() -> Void)?

    func store(_ change: PhoneKeyChange, in directory: String, _ done: @escaping (PhoneKeyOutcome) -> Void) {
        let work = { done(change.store(in: directory)) }
        if isSlow { waiting = work } else { work() }
    }

    /// Stores the change that waits, without those that follow from it.
    func step() {
        let work = waiting
        waiting = nil
        work?()
    }

    func finish(within limit: Duration) -> Bool {
        while waiting != nil { step() }
        return true
    }
}
