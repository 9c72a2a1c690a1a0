package import Base

/// Why there is no connection, in a form that a status page can show and a user can act on. None is fatal.
package enum BrokerFailure: Error, Hashable, Sendable {
    /// The settings cannot be used as they are: a certificate file that cannot be read, for one.
    case settings(String)
    /// The host's name has no address; with the resolver's words.
    case nameNotResolved(String)
    /// TCP found no way; with the system's words.
    case unreachable(String)
    /// The broker's certificate was not accepted, or ours was not; with OpenSSL's words.
    case tls(String)
    /// CONNACK refused the connection; a code of MQTT 3.1.1 (1 ... 5) or of MQTT 5 (0x80 and above).
    case notAccepted(code: UInt8)
    /// TCP was connected and nothing came for as long as `BrokerSettings.connectTimeout`.
    case silent
    /// A ping was not answered.
    case keepaliveMissed
    /// A message was not acknowledged within `BrokerSettings.acknowledgeTimeout`.
    case unacknowledged
    /// The broker closed the connection; with its code if it speaks MQTT 5 and gave one.
    case closed(code: UInt8?)
    /// It does not speak MQTT as agreed.
    case protocolViolation
    /// It sent a packet that MQTT forbids, and that libmosquitto did not get to see; what it was.
    case invalidPacket(String)
    /// It sent a message over `BrokerSettings.QueueLimits.largestPacket` that could not be taken apart on its way.
    case messageTooLarge
    /// It sent a message of QoS 2. Nothing is subscribed to with more than QoS 1, so it is left of an earlier session,
    /// of another program with the same client id, or the broker does not keep to MQTT.
    case unaskedExactlyOnce
    case other(String)
    /// Messages cannot be posted over HTTP: the reason, and the advice.
    case endpoint(reason: String, remedy: String)

    /// Whether only the login can be the reason.
    package var isLogin: Bool {
        guard case .notAccepted(let code) = self else { return false }
        return [4, 5, 0x86, 0x87, 0x8c].contains(code)
    }

    /// Whether the client id is the reason: the broker does not admit it, or another client took it.
    package var isClientID: Bool {
        switch self {
        case .notAccepted(let code): [2, 0x85].contains(code)
        case .closed(let code): code == 0x8e
        default: false
        }
    }

    /// Whether the broker may admit a connection with another client id. Some say "not authorised", and some close the connection.
    package var mayBeClientID: Bool {
        switch self {
        case .notAccepted(let code): [2, 5, 0x85, 0x87].contains(code)
        case .closed(let code): code == nil || code == 0x8e || code == 0x87
        default: false
        }
    }

    /// The failure as an entry of the record of refusals. That the broker does not admit a second connection is known only after
    /// some failures.
    package func refused(clientID: String, on connection: String) -> Refused {
        let kind: Refused.Kind = isClientID && connection == BrokerSettings.main ? .clientID : .connection
        return Refused(kind, clientID, on: connection, because: description)
    }

    /// CONNACK refused the connection.
    var isNotAccepted: Bool { if case .notAccepted = self { true } else { false } }

    /// Another version of MQTT may do better. A broker that does not know a version says so, or closes the connection
    /// (MQTT 5, section 3.1.2.2).
    package var isAboutProtocol: Bool {
        switch self {
        case .notAccepted(let code): [1, 0x84].contains(code)
        case .closed, .protocolViolation, .invalidPacket: true
        default: false
        }
    }

    /// Whether the end of a connection may be the answer to a subscription. Some codes have another reason.
    var mayMeanFilter: Bool {
        switch self {
        case .closed(nil), .protocolViolation: true
        case .closed(let code?): [0x80, 0x81, 0x82, 0x83, 0x87, 0x8f, 0x9e, 0xa1, 0xa2].contains(code)
        default: false
        }
    }

    /// The broker ended it, as against the network or the broker's silence.
    var isByBroker: Bool {
        switch self {
        case .closed, .protocolViolation, .invalidPacket: true
        default: false
        }
    }
}

extension BrokerFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .settings(let what): what
        case .nameNotResolved(let why): "the broker's name cannot be resolved: \(why)"
        case .unreachable(let why): "the broker cannot be reached: \(why)"
        case .tls(let why): "TLS failed: \(why)"
        case .notAccepted(let code): "the broker does not accept us: \(Self.connectReason(code: code))"
        case .silent: "something accepts connections there but does not answer as a broker"
        case .keepaliveMissed: "the broker no longer answers"
        case .unacknowledged: "the broker does not acknowledge what it is sent"
        case .closed(nil): "the connection was closed"
        case .closed(let code?): "the broker closed the connection: \(Self.reason(code: code))"
        case .protocolViolation: "the other side violates the MQTT protocol"
        case .invalidPacket(let what): "the other side violates the MQTT protocol: it sent \(what)"
        case .messageTooLarge: "the broker sent a message that is too large"
        case .unaskedExactlyOnce: "the broker sent a message with QoS 2, which nothing is subscribed to with"
        case .other(let why): why
        case .endpoint(let reason, _): reason
        }
    }

    /// MQTT 3.1.1, section 3.2.2.3; larger codes are those of MQTT 5.
    static func connectReason(code: UInt8) -> String {
        switch code {
        case 1: "it does not speak this MQTT protocol level"
        case 2: "it refuses the client id"
        case 3: "it is unavailable"
        case 4: "wrong user name or password"
        case 5: "not authorised (wrong user name or password, or no right to connect)"
        default: reason(code: code)
        }
    }

    /// What has to change where a message or a subscription is refused with this code (MQTT 5, section 2.4).
    package static func cause(code: UInt8) -> Refused.Cause {
        switch code {
        case 0x91, 0x93, 0x96, 0x97: .quota
        case 0x8f, 0x90, 0x99, 0x9e, 0xa1, 0xa2: .unsupported
        default: .rights
        }
    }

    /// MQTT 5, section 2.4, the codes that a client can meet.
    package static func reason(code: UInt8) -> String {
        switch code {
        case 0x00: "normal disconnection"
        case 0x80: "unspecified error"
        case 0x81: "malformed packet"
        case 0x82: "protocol error"
        case 0x83: "implementation specific error"
        case 0x84: "it does not speak this MQTT protocol level"
        case 0x85: "it refuses the client id"
        case 0x86: "wrong user name or password"
        case 0x87: "not authorised"
        case 0x88: "it is unavailable"
        case 0x89: "it is busy"
        case 0x8a: "this client is banned"
        case 0x8b: "it is shutting down"
        case 0x8c: "wrong authentication method"
        case 0x8d: "keepalive missed"
        case 0x8e: "another client took this client id"
        case 0x8f: "topic filter not allowed"
        case 0x90: "topic name not allowed"
        case 0x91: "packet identifier in use"
        case 0x93: "too many messages at once"
        case 0x95: "packet too large"
        case 0x96: "messages come too fast"
        case 0x97: "quota exceeded"
        case 0x98: "an administrator asked for it"
        case 0x99: "payload format invalid"
        case 0x9a: "it does not support retained messages"
        case 0x9b: "it does not support this QoS"
        case 0x9c, 0x9d: "use another server"
        case 0x9e: "it does not support shared subscriptions"
        case 0x9f: "connections come too fast"
        case 0xa0: "the connection lasted too long"
        case 0xa1: "it does not support subscription identifiers"
        case 0xa2: "it does not support wildcards in subscriptions"
        default: "reason code \(code)"
        }
    }
}
