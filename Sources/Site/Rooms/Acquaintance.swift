import Base

/// Whether what a gateway hears counts.
///
/// Anyone who may publish can invent a gateway by one message. A gateway that is there goes on sending, so it counts from its third
/// message of one start on, if that comes late enough. It counts from then on: after it starts anew, too.
enum Acquaintance: Hashable, Sendable {
    case unknown
    case met(boot: String, first: MonotonicInstant, messages: Int)
    case known

    private static let fewestMessages = 3
    private static let fewestSeconds: Duration = .seconds(2)
    /// An ESPresense node reports about every 5 s.
    private static let fewestSecondsOfNode: Duration = .seconds(10)

    /// Takes a message of the gateway.
    ///
    /// - Parameter boot: Names the start of the gateway; empty for an ESPresense node.
    /// - Returns: Whether it counts.
    mutating func record(boot: String, at now: MonotonicInstant) -> Bool {
        switch self {
        case .known: return true
        case .met(boot, let first, let messages):
            let isLongEnough = first.duration(to: now) >= (boot.isEmpty ? Self.fewestSecondsOfNode : Self.fewestSeconds)
            self =
                isLongEnough && messages + 1 >= Self.fewestMessages
                ? .known : .met(boot: boot, first: first, messages: messages + 1)
        case .unknown, .met: self = .met(boot: boot, first: now, messages: 1)
        }
        return self == .known
    }
}
