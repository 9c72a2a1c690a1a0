/// Cuts what a client sends into frames: the byte 1, a length of 16 bits, and so many bytes.
///
/// Memory: one frame, and what came with its end.
struct FrameReader {
    static let headLength = 3
    private static let marker: UInt8 = 1

    private var bytes: [UInt8] = []

    /// Bytes that wait for the rest of their frame.
    var waiting: Int { bytes.count }

    mutating func add(_ more: [UInt8]) { bytes += more }

    /// - Returns: The content of the next frame; nil if it is not whole yet.
    /// - Throws: `notEncrypted` for another first byte.
    mutating func next() throws(ProxyFailure) -> [UInt8]? {
        guard let first = bytes.first else { return nil }
        guard first == Self.marker else { throw .notEncrypted }
        guard bytes.count >= Self.headLength else { return nil }
        let end = Self.headLength + (Int(bytes[1]) << 8 | Int(bytes[2]))
        guard bytes.count >= end else { return nil }
        defer { bytes.removeSubrange(..<end) }
        return Array(bytes[Self.headLength..<end])
    }

    /// - Parameter content: At most 65,535 bytes.
    static func frame(_ content: [UInt8]) -> [UInt8] {
        [marker, UInt8(truncatingIfNeeded: content.count >> 8), UInt8(truncatingIfNeeded: content.count)] + content
    }
}
