/// Why the text of an identity cannot be used.
package enum IdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    case invalidAddress(String)
    case invalidEddystone(String)
    case invalidUUID(String)
    /// A key is a secret, and the description came in a way that others can read.
    case key

    package var description: String {
        switch self {
        case .invalidAddress(let text):
            "'\(text)' is not an address; write six pairs of hexadecimal digits: mac:C0:FF:EE:00:00:01"
        case .invalidEddystone(let text):
            "'\(text)' is not an Eddystone-UID; write 20 hexadecimal digits of namespace, and 12 of instance or none: "
                + "eddystone:00112233445566778899:AABBCCDDEEFF"
        case .invalidUUID(let text):
            "'\(text)' is not an AltBeacon; write 32 hexadecimal digits, then major and minor: altbeacon:UUID:1:2"
        case .key:
            "a key does not belong into a description that others can read; store it with "
                + "'ibeacon-gateway phones add NAME --key FILE' and use the UUID that this prints, or give it in a file "
                + "that is imported, in the configuration, or in an encrypted command"
        }
    }
}
