package import Identities

extension IdentityResolver {
    /// Sets the keys of the devices that are to be found.
    ///
    /// - Returns: Whether they can be used; false if libcrypto offers no AES-128.
    package mutating func setKeys(_ keys: [PhoneKey]) -> Bool {
        guard let ciphers = KeyCiphers(keys.map(\.key)) else { return false }
        setKeys(keys, hash: ciphers)
        return true
    }
}
