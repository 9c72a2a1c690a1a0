package import Identities

/// bluetoothd's file about a device that is paired: `/var/lib/bluetooth/ADAPTER/DEVICE/info`.
package enum BondFile {
    /// The key in the section `IdentityResolvingKey`, most significant octet first. bluetoothd writes it in the order of the
    /// kernel, which has the least significant octet first.
    package static func identityKey(in bytes: [UInt8]) -> IdentityKey? {
        var isInSection = false
        for line in bytes.prefix(1 << 16).split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        ) {
            if line.first == UInt8(ascii: "[") {
                isInSection = line.elementsEqual("[IdentityResolvingKey]".utf8)
            } else if isInSection, line.starts(with: "Key=".utf8) {
                return IdentityKey(String(decoding: line.dropFirst(4), as: UTF8.self))?.reversed
            }
        }
        return nil
    }
}
