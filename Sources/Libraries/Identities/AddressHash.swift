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
