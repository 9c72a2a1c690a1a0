/// A message of the rooms service on its way to the broker.
package struct RoomMessage: Hashable, Sendable {
    /// The kind decides which messages a full outbox drops first.
    package enum Kind: Hashable, Sendable {
        case transition, location, state
    }

    package let kind: Kind
    package let topic: String
    /// One line of JSON.
    package let payload: [UInt8]
    package let qos: UInt8
    package let isRetained: Bool

    package init(kind: Kind = .state, topic: String, payload: [UInt8], qos: UInt8 = 1, isRetained: Bool) {
        (self.kind, self.topic, self.payload, self.qos, self.isRetained) = (kind, topic, payload, qos, isRetained)
    }
}
