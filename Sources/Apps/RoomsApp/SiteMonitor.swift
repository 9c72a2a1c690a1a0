import Base
import Configuration
import Health
import JSON
import Messaging
import Rooms
import Shell
import SiteProtocol
import Storage

/// Collects what the page and `/metrics` show besides the site itself: the cards of gateways and services, and the
/// state of broker and disk. It decides nothing.
final class SiteMonitor {
    /// The card of a gateway.
    struct Card: Hashable {
        /// Empty if the card has no version.
        var version: String
        var scanner: String
    }

    /// A service of the site.
    struct Service: Hashable {
        var isActive: Bool
        var version: String
    }

    private static let mostServices = 32

    let startedAt: MonotonicInstant
    /// Cards by the gateway's name. ESPresense nodes have none.
    private(set) var cards: [String: Card] = [:]
    private(set) var services: [String: Service] = [:]
    /// Why the state cannot be written; nil if it can.
    private(set) var storeProblem: String?
    /// Number of messages that the broker acknowledged.
    private(set) var sent: UInt64 = 0
    private var broker: BrokerWatch
    /// Ids of the tags in the configuration file.
    var configuredTags: Set<String> = []
    /// Beacons that are no tags, as the page asked for them.
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
        switch event {
        case .message(let message): return record(message.topic, message.payload, at: now)
        case .acknowledged(let token): if token.rawValue > 0 { sent += 1 }
        default: break
        }
        return broker.record(event, at: now)
    }

    func record(_ event: StoreEvent) {
        switch event {
        case .unavailable(let failure), .troubled(let failure): storeProblem = "\(failure.error)"
        case .recovered, .opened: storeProblem = nil
        default: break
        }
    }

    /// Records a card. Nearly all messages are readings; for them only the topic is examined.
    private func record(_ topic: String, _ payload: [UInt8], at now: MonotonicInstant) -> Bool {
        guard topic.contains("/gateway/") || topic.contains("/service/") || topic.contains("/nearby/"),
            payload.count <= 8192
        else { return false }
        switch RoomTopic(topic) {
        case .nearby(_, let gateway):
            guard let readings = try? FeedDecoder.nearby(payload) else { return false }
            nearby.record(readings, of: gateway, at: now)
            return false
        case .card(_, let gateway):
            let card = (try? JSONValue(parsing: payload)).map {
                Card(version: Self.text($0["version"]), scanner: Self.text($0["scanner"]))
            }
            guard card != cards[gateway], cards.count < RoomEngine.mostGateways || cards[gateway] != nil else {
                return false
            }
            cards[gateway] = card
            return true
        case .service(_, let instance):
            let service = (try? JSONValue(parsing: payload)).map {
                Service(isActive: $0["active"]?.asBool == true, version: Self.text($0["version"]))
            }
            guard service != services[instance], services.count < Self.mostServices || services[instance] != nil
            else { return false }
            services[instance] = service
            return true
        default: return false
        }
    }

    private static func text(_ json: JSONValue?) -> String { String((json?.string ?? "").prefix(64)) }
}
