import Base
package import Beacon
package import Identities

/// What an enrolment has changed on this machine, kept on the disk while it runs. A program that was killed leaves it
/// behind, and the next one undoes what it says.
package struct EnrolmentRecord: Hashable, Sendable {
    /// bluetoothd's objects of the devices that connected: `/org/bluez/hci0/dev_61_44_12_88_D4_23`.
    package var devices: [String] = []
    /// bluetoothd's objects of adapters that had pairing switched off.
    package var unpairable: [String] = []

    package init() {}

    /// Reads `bytes`. What is not understood is passed over.
    package init(parsing bytes: [UInt8]) {
        for line in bytes.prefix(1 << 16).split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count == 2, words[1].hasPrefix("/org/bluez/") else { continue }
            switch words[0] {
            case "device": devices.append(String(words[1]))
            case "unpairable": unpairable.append(String(words[1]))
            default: break
            }
        }
    }

    package var isEmpty: Bool { devices.isEmpty && unpairable.isEmpty }

    /// A line for each.
    package var bytes: [UInt8] {
        Array((devices.map { "device \($0)\n" } + unpairable.map { "unpairable \($0)\n" }).joined().utf8)
    }
}

/// The files of an enrolment.
package protocol EnrolmentStorage: AnyObject {
    /// The record of an earlier enrolment, empty if there is none.
    func readRecord() -> EnrolmentRecord
    /// Replaces the record. An empty one is removed.
    ///
    /// - Returns: Why it was not written, or nil.
    func write(_ record: EnrolmentRecord) -> String?
    /// The content of bluetoothd's file `info` about a device, nil if there is none.
    ///
    /// - Parameters:
    ///   - adapter: The adapter's address.
    ///   - device: The device's identity address.
    func bond(adapter: DeviceAddress, device: DeviceAddress) -> [UInt8]?
}

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

extension DeviceAddress {
    /// Reads six pairs of hexadecimal digits with this character between them.
    init?(_ text: some StringProtocol, separator: Character, isRandom: Bool) {
        let octets = text.split(separator: separator, omittingEmptySubsequences: false)
        guard octets.count == 6, octets.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(isHexadecimal) }),
            let value = UInt64(octets.joined(), radix: 16)
        else { return nil }
        self.init(value: value, isRandom: isRandom)
    }
}

private func isHexadecimal(_ byte: UInt8) -> Bool { hexadecimalValue(of: byte) != nil }
