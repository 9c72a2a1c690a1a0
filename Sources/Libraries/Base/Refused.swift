/// One thing that a broker or a server refuses.
package struct Refused: Hashable, Sendable {
    /// What is refused. For a new kind, add a case with its words in `sentence`, and in `RefusalRecord+Shown.swift` (Health).
    /// Then pass a `Refused` of it to `RefusalRecord.add` where the refusal becomes known, and to `admit` where it is over. Log,
    /// `status`, pages, metrics, `doctor` and Home Assistant's problem follow from the record.
    package enum Kind: String, CaseIterable, Sendable {
        /// The connection itself; the object is the client id.
        case connection
        /// The client id, or a second connection beside it; the object is the client id.
        case clientID = "client id"
        /// The object is a topic filter.
        case subscription
        /// Messages; the object is their topic.
        case message
        /// Messages of this size or quality; the object is their topic.
        case size
        /// The broker retains nothing; the object is the client id.
        case retain
        /// Messages that an HTTP server does not accept; the object is their topic.
        case post

        /// Kinds that end when something of this kind is admitted.
        fileprivate var together: Set<Kind> {
            switch self {
            case .connection, .clientID: [.connection, .clientID]
            case .message, .size: [.message, .size]
            case .subscription, .retain, .post: [self]
            }
        }
    }

    /// What has to change at the other side.
    package enum Cause: Hashable, Sendable {
        /// The rights of this login, or nothing that the other side names.
        case rights
        /// A limit of amounts: other messages, or the same one later, may be admitted.
        case quota
        /// The other side admits such a thing to nobody.
        case unsupported
    }

    /// The connection, as the metrics name it: `main`, `availability`, `readings`.
    package var connection: String
    package var kind: Kind
    package var object: String
    /// The other side's reason, in words. It never contains a secret.
    package var reason: String
    package var cause: Cause

    package init(
        _ kind: Kind, _ object: String, on connection: String, because reason: String, cause: Cause = .rights
    ) {
        (self.kind, self.object, self.connection, self.reason, self.cause) = (kind, object, connection, reason, cause)
    }

    /// Whether the admission of `other` is that of this one.
    package func ends(with other: Refused) -> Bool {
        guard connection == other.connection, other.kind.together.contains(kind) else { return false }
        return kind == .connection || kind == .clientID || object.hasSameBytes(as: other.object)
    }

    /// In words, for the log.
    package var sentence: String { kind.sentence(of: [object], because: reason) }

    /// As `sentence`, with how often, unless it was once.
    package func sentence(times count: UInt64) -> String { count > 1 ? "\(sentence); \(count) times" : sentence }
}

extension Refused.Kind {
    /// What is refused for one reason, in words.
    ///
    /// - Parameters:
    ///   - objects: Those that are named, at least one.
    ///   - others: How many more there are.
    package func sentence(of objects: [String], andMore others: Int = 0, because reason: String) -> String {
        let isOne = objects.count + others == 1
        let quote = self == .connection || self == .clientID ? "'" : ""
        var names = objects.map { quote + $0 + quote }.joined(separator: ", ")
        if others > 0 { names += " and \(others) more" }
        return switch self {
        case .connection: "the connection\(isOne ? "" : "s") \(names) \(isOne ? "is" : "are") refused: \(reason)"
        case .clientID: "the client id\(isOne ? "" : "s") \(names) \(isOne ? "is" : "are") refused: \(reason)"
        case .subscription: "the broker refuses the subscription\(isOne ? "" : "s") to \(names): \(reason)"
        case .message: "messages to \(names) are refused: \(reason)"
        case .size: "messages to \(names) are over a limit: \(reason)"
        case .retain: "the broker retains nothing: \(reason)"
        case .post: "messages on \(names) are not accepted: \(reason)"
        }
    }
}
