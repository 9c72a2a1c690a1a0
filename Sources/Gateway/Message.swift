package import Base
import Beacon

/// A message on its way to the broker.
package struct Message: Hashable, Sendable {
    /// What it is worth when room is short: a transition is never given up for a location.
    package enum Kind: UInt8, Sendable {
        case transition
        case location
        /// A periodic location: of those of a topic only the newest matters.
        case ping
        /// Retained state: only the newest of a topic matters.
        case state
        /// An answer to a command, or anything else that is asked for.
        case reply
    }

    package let kind: Kind
    /// The base topic of the tracker whose message it is.
    package let base: String
    package let topic: String
    /// One line of JSON.
    package let payload: [UInt8]
    /// 0, 1 or 2.
    package let qos: UInt8
    package let isRetained: Bool
    /// Whether the tracker's encryption key applies: it does in OwnTracks' tree, and not outside it.
    package let isEncrypted: Bool
    /// Set while the wall clock is unknown: the instant that `tst` must be made of before it is sent.
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
