package import Base

/// Through which port Home Assistant hears what this gateway's radio hears.
package struct BluetoothProxySettings: Hashable, Sendable {
    /// Where the proxy of `hci0` listens. That of `hciN` has the port N above it.
    package var listen: ListenAddress
    /// The key in base64, as ESPHome has it: `keyBytes` bytes.
    package var key: SecretSetting
    /// Addresses of this machine and of its containers that are served all the same, as they are written in the configuration.
    package var allowed: [String] = []

    /// The length of the key.
    package static let keyBytes = 32

    /// The most elements of `allowed`.
    package static let mostAllowed = 16

    /// Whether a text is such a key, as Home Assistant takes it: in the usual alphabet, with its padding.
    package static func isKey(_ secret: Secret) -> Bool {
        let text = secret.revealed.utf8
        return text.count == (keyBytes + 2) / 3 * 4 && !text.contains(UInt8(ascii: "-"))
            && !text.contains(UInt8(ascii: "_")) && Base64.bytes(text)?.count == keyBytes
    }
}
