package import Base

/// Why a message was refused for good.
package enum Refusal: Hashable, Sendable, CustomStringConvertible {
    /// A topic with a wildcard, a NUL or over 65535 bytes, or a payload over 256 MiB.
    case malformed
    /// Larger than the limit that the broker announced (MQTT 5 only).
    case tooLarge
    /// A reason code of MQTT 5, 0x80 or above.
    case byBroker(reasonCode: UInt8)
    /// Sent alone on a connection, the message made the broker close it, this many times in a row.
    case endsConnection(times: Int)
    /// The message is transient, or its connection is given up for another one: that ended before the message was sent.
    case late
    /// An HTTP status that concerns the message.
    case byEndpoint(status: Int)
    /// The server accepted neither this message nor many others, and accepted later ones.
    case givenUp

    package var description: String {
        switch self {
        case .malformed: "not a topic or payload that MQTT can carry"
        case .tooLarge: "larger than the broker accepts"
        case .byBroker(let code): "the broker refuses it: \(BrokerFailure.reason(code: code))"
        case .endsConnection(1): "the broker closed the connection when it was sent"
        case .endsConnection(let times): "the broker closed the connection \(times) times when it was sent"
        case .late: "the connection ended before it was sent"
        case .byEndpoint(let status): "the server answers \(status)"
        case .givenUp: "the server does not accept it, and too many such messages wait"
        }
    }

    /// The same for a record that names the object.
    package var reason: String {
        if case .byBroker(let code) = self { BrokerFailure.reason(code: code) } else { description }
    }

    /// What has to change at the broker.
    package var cause: Refused.Cause {
        if case .byBroker(let code) = self { BrokerFailure.cause(code: code) } else { .rights }
    }

    /// The kind in the record of refusals; nil: nobody refused it.
    package var kind: Refused.Kind? {
        switch self {
        case .late: nil
        case .tooLarge, .byBroker(0x95), .byBroker(0x9b): .size
        case .byBroker(0x9a): .retain
        case .malformed, .byBroker, .endsConnection: .message
        case .byEndpoint, .givenUp: .post
        }
    }

    /// The descriptions of all refusals that are about a limit of the broker. The message may be taken once the limit is another.
    package static let limits: Set<String> = Set(
        [Refusal.tooLarge, .byBroker(reasonCode: 0x95), .byBroker(reasonCode: 0x9b)].map(\.description))
}
