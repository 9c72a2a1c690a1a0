import Base
import Messaging

/// A part of what goes over the second connection. It subscribes to topics of its own, publishes with tokens of its own, and
/// knows no other part. A part with timers arms them itself, and handles them in its `tick`.
protocol SidePart: AnyObject {
    var name: SidePartName { get }
    /// The subscriptions that it needs now.
    var filters: Set<String> { get }
    /// Takes the settings in force. A connection is about to be opened with them.
    func prepare()
    func connected(at now: MonotonicInstant)
    /// The connection is about to be left, and takes messages until then.
    func leaving()
    /// The connection was lost or left.
    func disconnected(at now: MonotonicInstant)
    /// - Returns: false if the message is for another part.
    func received(_ message: ReceivedMessage, at now: MonotonicInstant) -> Bool
    /// A message was sent or dropped, so there is room for another one.
    ///
    /// - Parameter token: One of this part's; nil: no part waited for this answer.
    func answered(_ token: SideToken?)
    /// The same for a message that the broker does not have: it refused the message, or it was not sent. A part that claims nothing of
    /// its messages needs only `answered`.
    func refused(_ token: SideToken?)
}

extension SidePart {
    var filters: Set<String> { [] }
    func prepare() {}
    func connected(at now: MonotonicInstant) {}
    func leaving() {}
    func disconnected(at now: MonotonicInstant) {}
    func received(_ message: ReceivedMessage, at now: MonotonicInstant) -> Bool { false }
    func answered(_ token: SideToken?) {}
    func refused(_ token: SideToken?) { answered(token) }
}
