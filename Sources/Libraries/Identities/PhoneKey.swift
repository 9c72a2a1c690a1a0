package import Beacon

/// A key of a phone or watch, and what is known about the order of its octets. Tools show keys in either order, and which
/// one it is shows only when the device is heard.
package struct PhoneKey: Hashable, Sendable, BitwiseCopyable {
    package let key: IdentityKey
    /// Whether the first octet of `key` is the most significant one; false: nobody knows.
    package let isOrdered: Bool

    package init(_ key: IdentityKey, isOrdered: Bool = false) { (self.key, self.isOrdered) = (key, isOrdered) }

    /// The UUID that is shown. While the order is not known, that of the order in which the key was given.
    package var uuid: BeaconUUID { key.uuid }

    /// The UUID of the other order. A region that was made while the order was not known may have it.
    package var otherUUID: BeaconUUID { key.reversed.uuid }

    /// The key after its device was heard.
    ///
    /// - Parameter isReversed: Whether the octets fit in the other order than `key` has.
    package func ordered(isReversed: Bool) -> PhoneKey {
        PhoneKey(isReversed ? key.reversed : key, isOrdered: true)
    }
}
