import Base

/// A 128-bit UUID, held as two words so that comparing and hashing touch no memory beyond the value.
public struct BeaconUUID: Hashable, Sendable, BitwiseCopyable {
    /// The first eight bytes, most significant first.
    public let high: UInt64
    /// The last eight bytes, most significant first.
    public let low: UInt64

    /// The UUID of these sixteen bytes.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads 32 hexadecimal digits in any case: either dashed 8-4-4-4-12 or with no dash at all.
    ///
    /// - Returns: nil for anything else, including braces and dashes in other places.
    public init?(_ text: some StringProtocol) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var digits = 0
        var offset = 0
        var dashes = 0
        for byte in text.utf8 {
            defer { offset += 1 }
            if byte == UInt8(ascii: "-") {
                guard offset == 8 || offset == 13 || offset == 18 || offset == 23 else { return nil }
                dashes += 1
                continue
            }
            guard let digit = hexadecimalValue(of: byte), digits < 32 else { return nil }
            if digits < 16 {
                high = high << 4 | UInt64(digit)
            } else {
                low = low << 4 | UInt64(digit)
            }
            digits += 1
        }
        guard digits == 32, dashes == 0 || dashes == 4 else { return nil }
        self.init(high: high, low: low)
    }
}

extension BeaconUUID: CustomStringConvertible {
    /// Upper case and dashed, the only form this program prints.
    public var description: String {
        // One allocation: each transition writes it several times before its message goes out.
        String(unsafeUninitializedCapacity: 36) { text in
            var end = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    text[end] = UInt8(ascii: "-")
                    end += 1
                }
                let word = nibble < 16 ? high : low
                text[end] = hexadecimalDigit(UInt8(truncatingIfNeeded: word >> UInt64((15 - nibble % 16) * 4)))
                end += 1
            }
            return end
        }
    }
}
