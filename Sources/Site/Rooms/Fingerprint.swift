/// A moment in a room, as the gateways heard it. Gateways that are not in it heard nothing.
struct Fingerprint: Sendable {
    /// Sorted by gateway.
    var levels: [FingerprintLevel]
    /// Seconds that the fingerprint represents.
    var seconds: Float
    /// No other fingerprint of the room has it.
    var id: UInt32
    /// When it was last confirmed, in the order of learning.
    var order: UInt64
}
