/// A message of the rooms service on its way to the broker.
package struct RoomMessage: Hashable, Sendable {
    package let topic: String
    /// One line of JSON.
    package let payload: [UInt8]
    package let qos: UInt8
    package let isRetained: Bool
}
