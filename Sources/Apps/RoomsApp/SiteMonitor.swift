import Base
import Configuration
import Health
import Messaging
import Shell
import Storage

/// Collects what the page and `/metrics` show besides the core: the state of broker and disk, and beacons that are not
/// tags. It decides nothing.
final class SiteMonitor {
    let startedAt: MonotonicInstant
    /// Why the state cannot be written; nil if it can.
    private(set) var storeProblem: String?
    /// Number of messages that the broker acknowledged.
    private(set) var sent: UInt64 = 0
    private var broker: BrokerWatch
    /// Beacons that are not tags, for the page.
    var nearby = NearbyBeacons()

    init(at now: MonotonicInstant) {
        startedAt = now
        broker = BrokerWatch(at: now)
    }

    func connects(at now: MonotonicInstant) { broker.connects(at: now) }

    func brokerState(_ configuration: Configuration, at now: MonotonicInstant) -> BrokerState {
        broker.state(of: configuration.broker, at: now)
    }

    /// - Returns: Whether the page must be updated at once.
    func record(_ event: BrokerEvent, at now: MonotonicInstant) -> Bool {
        if case .acknowledged(let token) = event, token.rawValue > 0 { sent += 1 }
        return broker.record(event, at: now)
    }

    func record(_ event: StoreEvent) {
        switch event {
        case .unavailable(let failure), .troubled(let failure): storeProblem = "\(failure.error)"
        case .recovered, .opened: storeProblem = nil
        default: break
        }
    }
}
