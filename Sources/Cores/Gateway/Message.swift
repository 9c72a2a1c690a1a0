package import Base

/// A message on its way to the broker.
package struct Message: Hashable, Sendable {
    /// The priority when room is short: a transition is never dropped in favour of a location.
    package enum Kind: UInt8, Sendable {
        case transition
        case location
        /// A periodic location: only the newest of a topic matters.
        case ping
        /// Retained state: only the newest of a topic matters.
        case state
        /// An answer to a command, or a message that a setting asks for.
        case reply
    }

    package let kind: Kind
    /// The base topic of the tracker that sends the message.
    package let base: String
    package let topic: String
    /// One line of JSON.
    package let payload: [UInt8]
    /// 0, 1 or 2.
    package let qos: UInt8
    package let isRetained: Bool
    /// Whether the message is encrypted if the tracker has a key: true in OwnTracks' tree, false outside it.
    package let isEncrypted: Bool
    /// Set while the wall clock is unknown: the instant from which `tst` is computed before the message is sent.
    package let unstamped: MonotonicInstant?

    package init(
        kind: Kind, base: String, topic: String, payload: [UInt8], qos: UInt8, isRetained: Bool, isEncrypted: Bool,
        unstamped: MonotonicInstant? = nil
    ) {
        self.kind = kind
        self.base = base
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.isEncrypted = isEncrypted
        self.unstamped = unstamped
    }
}
