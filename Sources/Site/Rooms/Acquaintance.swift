package import Base

/// Whether the messages of a gateway count.
///
/// Any client with publish rights can invent a gateway with one message. A real gateway keeps sending. So its messages count from the
/// third of one start on, if that message comes at least 2 s after the first. From then on they always count, also after a restart.
package enum Acquaintance: Hashable, Sendable {
    case unknown
    case met(startID: String, first: MonotonicInstant, messages: Int)
    case known

    private static let fewestMessages = 3
    private static let fewestSeconds: Duration = .seconds(2)
    /// An ESPresense node reports about every 5 s.
    private static let fewestSecondsOfNode: Duration = .seconds(10)

    /// Records a message of the gateway.
    ///
    /// - Parameter startID: Identifies the start of the gateway; empty for an ESPresense node.
    /// - Returns: Whether the gateway counts.
    package mutating func record(startID: String, at now: MonotonicInstant) -> Bool {
        switch self {
        case .known: return true
        case .met(startID, let first, let messages):
            let isLongEnough =
                first.duration(to: now) >= (startID.isEmpty ? Self.fewestSecondsOfNode : Self.fewestSeconds)
            self =
                isLongEnough && messages + 1 >= Self.fewestMessages
                ? .known : .met(startID: startID, first: first, messages: messages + 1)
        case .unknown, .met: self = .met(startID: startID, first: now, messages: 1)
        }
        return self == .known
    }
}
