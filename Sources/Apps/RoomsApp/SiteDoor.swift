import Base
import Configuration
import Messaging
import Rooms
import Shell
import SiteProtocol

/// Decrypts what arrives for the site, and knows the gateways whose messages cannot be decrypted.
///
/// Any client may publish without the key. So a gateway is named only if none of its messages could be decrypted
/// recently, and the number of names is bounded.
struct SiteDoor {
    /// A gateway that was understood within this time is not named: another client publishes in its name.
    private static let trust: Duration = .seconds(25)
    /// Shortest time between two lists of tags in answer to lists that cannot be decrypted. Two services with different
    /// keys would answer each other without end.
    private static let listPeriod: Duration = .seconds(5)

    let seal: SiteSeal
    /// Number of refused messages.
    private(set) var refused: UInt64 = 0
    /// Gateways whose messages cannot be decrypted.
    private(set) var unreadable: Set<String> = []
    /// When a message of a gateway was last decrypted.
    private var understood: [String: MonotonicInstant] = [:]
    private var answered: MonotonicInstant?

    init(_ configuration: Configuration) { seal = SiteSeal(configuration.rooms) }

    enum Entry {
        /// - isNews: Whether a gateway is understood again, or is gone.
        case opened([UInt8], isNews: Bool)
        /// - isNews: Whether a gateway is not understood any more.
        case refused(RoomTopic, SealError, isNews: Bool)
    }

    /// Decrypts a message. A message that does not belong to the site comes out as it is.
    mutating func open(_ message: ReceivedMessage, at now: MonotonicInstant) -> Entry {
        // Without a key, nearly all messages are taken without a look at their topic.
        guard seal.isOn || !unreadable.isEmpty || SiteSeal.isSealed(message.payload),
            let topic = RoomTopic(message.topic)
        else { return .opened(message.payload, isNews: false) }
        do throws(SealError) {
            let payload = try seal.opened(message.payload, of: topic)
            return .opened(payload, isNews: record(topic, isEmpty: payload.isEmpty, at: now))
        } catch {
            refused += 1
            return .refused(topic, error, isNews: recordRefusal(topic, at: now))
        }
    }

    /// - Parameter isEmpty: Whether the message deletes another one, which any client can do.
    private mutating func record(_ topic: RoomTopic, isEmpty: Bool, at now: MonotonicInstant) -> Bool {
        guard let gateway = topic.sendingGateway else { return false }
        if !isEmpty, understood[gateway] != nil || understood.count < RoomEngine.mostGateways {
            understood[gateway] = now
        }
        return unreadable.remove(gateway) != nil
    }

    private mutating func recordRefusal(_ topic: RoomTopic, at now: MonotonicInstant) -> Bool {
        guard let gateway = topic.sendingGateway, unreadable.count < RoomEngine.mostGateways else { return false }
        if let last = understood[gateway], last.duration(to: now) < Self.trust { return false }
        return unreadable.insert(gateway).inserted
    }

    /// Whether a list of tags that cannot be decrypted is to be replaced now.
    mutating func mayAnswerList(at now: MonotonicInstant) -> Bool {
        guard answered.map({ $0.duration(to: now) >= Self.listPeriod }) ?? true else { return false }
        answered = now
        return true
    }
}
