extension Span<UInt8> {
    /// The 16-bit number at `offset`, least significant octet first; nil past the end.
    func littleEndian16(at offset: Int) -> UInt16? {
        guard offset >= 0, count >= 2, offset <= count - 2 else { return nil }
        return UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
    }

    /// The 32-bit number at `offset`, least significant octet first; nil past the end.
    func littleEndian32(at offset: Int) -> UInt32? {
        guard let low = littleEndian16(at: offset), let high = littleEndian16(at: offset + 2) else { return nil }
        return UInt32(low) | UInt32(high) << 16
    }
}

extension Array<UInt8> {
    /// Appends a number, least significant octet first.
    mutating func append(littleEndian value: UInt16) {
        append(UInt8(truncatingIfNeeded: value))
        append(UInt8(truncatingIfNeeded: value >> 8))
    }

    /// Appends a number, least significant octet first.
    mutating func append(littleEndian value: UInt32) {
        append(littleEndian: UInt16(truncatingIfNeeded: value))
        append(littleEndian: UInt16(truncatingIfNeeded: value >> 16))
    }
}
