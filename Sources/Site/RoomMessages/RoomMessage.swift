/// A message of the rooms service on its way to the broker.
package struct RoomMessage: Hashable, Sendable {
    package let topic: String
    /// One line of JSON.
    package let payload: [UInt8]
    package let qos: UInt8
    package let isRetained: Bool

    package init(topic: String, payload: [UInt8], qos: UInt8, isRetained: Bool) {
        (self.topic, self.payload, self.qos, self.isRetained) = (topic, payload, qos, isRetained)
    }
}
