/// The content of an unencrypted Eddystone-TLM frame (github.com/google/eddystone, `eddystone-tlm/tlm-plain.md`).
package struct EddystoneTLM: Hashable, Sendable, BitwiseCopyable {
    /// Millivolts; 0: not supported, as with a tag on USB power.
    package let millivolts: UInt16
    /// 1/256 degree Celsius; −32768: not supported.
    package let temperature: Int16
    /// Advertisements of all kinds since the start of the tag.
    package let advertisements: UInt32
    /// Tenths of a second since the start of the tag.
    package let uptime: UInt32

    /// Frame type and version of an unencrypted frame. Version 1 is encrypted.
    private static let frameType: UInt8 = 0x20
    private static let plainVersion: UInt8 = 0x00
    /// "The length of this frame is fixed."
    private static let length = 14

    /// Whether the service data begins like a frame of this kind.
    static func begins(_ body: Span<UInt8>) -> Bool {
        guard !body.isEmpty, body[0] == frameType else { return false }
        return body.count < 2 || body[1] == plainVersion
    }

    /// - Parameter body: The service data after the UUID.
    /// - Returns: nil unless it is exactly a whole frame.
    package init?(serviceData body: Span<UInt8>) {
        guard body.count == Self.length, Self.begins(body) else { return nil }
        millivolts = body.bigEndian(UInt16.self, at: 2)
        temperature = body.bigEndian(Int16.self, at: 4)
        advertisements = body.bigEndian(UInt32.self, at: 6)
        uptime = body.bigEndian(UInt32.self, at: 10)
    }
}

extension Telemetry.Frame {
    init(eddystone body: Span<UInt8>) {
        guard EddystoneTLM.begins(body) else {
            self.init(kkm: body)
            return
        }
        guard let frame = EddystoneTLM(serviceData: body) else {
            self = .inexact
            return
        }
        self.init(
            .eddystone, level: nil, millivolts: frame.millivolts,
            temperature: frame.temperature == .min ? nil : Float(frame.temperature) / 256)
    }
}
