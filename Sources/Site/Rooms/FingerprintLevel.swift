/// The level that one gateway had in a fingerprint.
struct FingerprintLevel: Hashable, Sendable, BitwiseCopyable {
    var gateway: GatewayIndex
    /// `.min` represents nil. It does not leave this type.
    private var value: Int16

    init(gateway: GatewayIndex, eighths: Int16?) { (self.gateway, value) = (gateway, eighths ?? .min) }

    /// Eighths of a dB; nil if the gateway was not listening, so that nothing is known.
    var eighths: Int16? {
        get { value == .min ? nil : value }
        set { value = newValue ?? .min }
    }
}
