import Base
package import Beacon

/// An identity resolving key (Core Specification 5.4, Vol 3, Part H, 2.4.2.1): who has it recognises the device under all
/// its addresses, for years. It is shown nowhere.
package struct IdentityKey: Hashable, Sendable, BitwiseCopyable {
    /// The first eight octets, as they were written.
    package let high: UInt64
    /// The last eight octets, as they were written.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads 32 hexadecimal digits, with or without separators, or base64 of 16 bytes; both with or without `irk:` before.
    ///
    /// - Returns: nil for anything else, and for a key of zeros only, which devices send that have none.
    package init?(_ text: some StringProtocol) {
        var bytes = Array(text.utf8.prefix(65)).drop { $0 == UInt8(ascii: " ") }
        while let last = bytes.last, last == UInt8(ascii: " ") { bytes = bytes.dropLast() }
        guard bytes.count <= 64 else { return nil }
        if bytes.prefix(4).elementsEqual("irk:".utf8) || bytes.prefix(4).elementsEqual("IRK:".utf8) {
            bytes = bytes.dropFirst(4)
        }
        guard let key = Self.hexadecimal(bytes) ?? Self.base64(bytes), key.high | key.low != 0 else { return nil }
        self = key
    }

    private static func hexadecimal(_ text: some Sequence<UInt8>) -> IdentityKey? {
        var number: (high: UInt64, low: UInt64) = (0, 0)
        var count = 0
        for byte in text where byte != UInt8(ascii: ":") && byte != UInt8(ascii: "-") {
            guard let digit = hexadecimalValue(of: byte) else { return nil }
            number = (number.high << 4 | number.low >> 60, number.low << 4 | UInt64(digit))
            count += 1
        }
        return count == 32 ? IdentityKey(high: number.high, low: number.low) : nil
    }

    /// 22 digits of RFC 4648, section 4 or 5, whose last four bits are 0, and `==` or nothing behind them.
    private static func base64(_ text: some Collection<UInt8>) -> IdentityKey? {
        let digits = text.prefix(22)
        guard digits.count == 22, text.dropFirst(22).isEmpty || text.dropFirst(22).elementsEqual("==".utf8) else {
            return nil
        }
        var number: (high: UInt64, low: UInt64) = (0, 0)
        for (position, byte) in digits.enumerated() {
            guard let digit = base64Value(of: byte) else { return nil }
            // 21 digits have 126 bits; the last two come from the last digit.
            let bits: UInt64 = position < 21 ? 6 : 2
            guard position < 21 || digit & 15 == 0 else { return nil }
            let value = position < 21 ? digit : digit >> 4
            number = (number.high << bits | number.low >> (64 - bits), number.low << bits | UInt64(value))
        }
        return IdentityKey(high: number.high, low: number.low)
    }

    private static func base64Value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// The octets in the other order. Tools show a key in either.
    package var reversed: IdentityKey { IdentityKey(high: low.byteSwapped, low: high.byteSwapped) }

    /// The same value for a key in whichever order it was written, to find a key again.
    package var unordered: IdentityKey {
        let other = reversed
        return (high, low) <= (other.high, other.low) ? self : other
    }

    /// The UUID for which a region of this key listens, if the octet that was written first is the most significant one, as
    /// in the Core Specification. It does not reveal the key.
    package var uuid: BeaconUUID { derivedUUID(of: "irk:\(digits)") }

    /// 32 hexadecimal digits, for the file of the keys.
    package var digits: String {
        Base.hexadecimal(high, digits: 16, isUppercase: true) + Base.hexadecimal(low, digits: 16, isUppercase: true)
    }
}

extension IdentityKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { Secret.mask }
    package var debugDescription: String { Secret.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The random part and the hash of a resolvable private address (Core Specification 5.4, Vol 6, Part B, 1.3.2.2).
package struct ResolvableAddress: Hashable, Sendable, BitwiseCopyable {
    /// 24 bits, the upper two of them 01.
    package let random: UInt32
    /// 24 bits.
    package let hash: UInt32

    /// - Returns: nil for an address of another kind.
    package init?(_ address: DeviceAddress) {
        guard address.isRandom, address.value >> 46 == 0b01 else { return nil }
        random = UInt32(truncatingIfNeeded: address.value >> 24)
        hash = UInt32(truncatingIfNeeded: address.value & 0xff_ffff)
    }
}

/// The function `ah` of the Core Specification (5.4, Vol 3, Part H, 2.2.2) for a list of keys. It needs AES-128, which an
/// adapter provides.
package protocol AddressHash {
    /// `ah(key, random)`, 24 bits.
    ///
    /// - Parameters:
    ///   - random: 24 bits.
    ///   - key: The index of a key.
    ///   - isReversed: Whether the octets of the key are taken in the other order than they were written.
    func hash(of random: UInt32, key: Int, isReversed: Bool) -> UInt32
}
