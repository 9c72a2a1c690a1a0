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

    /// Reads a key in the forms in which people hold it (`KeyText`): 32 hexadecimal digits, or base64 of 16 bytes.
    ///
    /// - Returns: nil for anything else, and for a key of zeros only, which devices send that have none.
    package init?(_ text: some StringProtocol) {
        guard case .key(let key) = KeyText.read(text.utf8) else { return nil }
        self = key
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
