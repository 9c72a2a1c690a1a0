import Base
import Messaging

/// What an event of a connection changes in the record of refusals.
enum RefusalChange: Equatable {
    /// Not missed: what is missing is said elsewhere, and it becomes no finding.
    case refused(Refused, isMissed: Bool)
    case admitted(Refused)
    /// The next connection says it again, if it is so.
    case forgotten(Refused.Kind, of: String)

    /// - Parameters:
    ///   - connection: The settings of the connection; nil: there was none.
    ///   - topic: The topic of a message that waits for its answer; nil if it is of no outbox.
    static func changes(
        by event: BrokerEvent, of connection: BrokerSettings?, topic: (MessageToken) -> String?
    ) -> [RefusalChange] {
        switch event {
        case .refusal(let refused): return [.refused(refused, isMissed: true)]
        case .admitted(let admitted): return [.admitted(admitted)]
        default: break
        }
        guard let connection else { return [] }
        let (client, name) = (connection.clientID, connection.name)
        switch event {
        case .connected: return [.admitted(Refused(.connection, client, on: name, because: ""))]
        case .limited(let limits) where !limits.retains:
            let reason = "it says so when it accepts a connection"
            return [.refused(Refused(.retain, client, on: name, because: reason), isMissed: true)]
        case .disconnected(let failure, _):
            return [
                .forgotten(.retain, of: name), .refused(failure.refused(clientID: client, on: name), isMissed: true),
            ]
        default: return connection.endpoint == nil ? [] : posted(event, on: name, topic: topic)
        }
    }

    /// What an HTTP server answers to a message. A broker's refusals have events of their own, which name the topic.
    private static func posted(
        _ event: BrokerEvent, on name: String, topic: (MessageToken) -> String?
    ) -> [RefusalChange] {
        switch event {
        case .refused(let token, let refusal):
            guard let kind = refusal.kind, let topic = topic(token) else { return [] }
            return [.refused(Refused(kind, topic, on: name, because: refusal.reason), isMissed: true)]
        case .steppedAside(_, let topic, let reason):
            // The state of the connection and a line of the log name it already.
            return [.refused(Refused(.post, topic, on: name, because: reason), isMissed: false)]
        case .acknowledged(let token):
            return topic(token).map { [.admitted(Refused(.post, $0, on: name, because: ""))] } ?? []
        default: return []
        }
    }
}

extension Refused {
    /// That it is admitted again, for the log; nil: another line says so.
    var admission: String? {
        switch kind {
        case .post: "the server accepts messages on \(object) now"
        case .message: "the broker takes messages to \(object) now"
        case .subscription: "the broker grants the subscription to \(object) now"
        case .connection, .clientID, .size, .retain: nil
        }
    }
}
