import Base
import Beacon
import KernelScanning

/// What an enrolment has changed on this machine, kept on the disk while it runs. A program that was killed leaves it
/// behind, and the next one undoes what it says.
package struct EnrolmentRecord: Hashable, Sendable {
    /// The devices that connected, and the identities that they gave: bluetoothd's objects
    /// (`/org/bluez/hci0/dev_61_44_12_88_D4_23`), or `/kernel/hci0/dev_61_44_12_88_D4_23` if the kernel has the bond.
    package var devices: [String] = []
    /// bluetoothd's objects of adapters that had pairing switched off.
    package var unpairable: [String] = []
    /// What was changed without bluetoothd.
    package var changes: [AdapterChange] = []
    /// What the kernel advertises because bluetoothd refused to.
    package var advertisements: [AdapterAdvertisement] = []

    package init() {}

    /// Reads `bytes`. What is not understood is passed over.
    package init(parsing bytes: [UInt8]) {
        for line in bytes.prefix(1 << 16).split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            switch (words.first, words.count) {
            case ("device", 2) where words[1].hasPrefix("/org/bluez/") || words[1].hasPrefix("/kernel/"):
                devices.append(String(words[1]))
            case ("unpairable", 2) where words[1].hasPrefix("/org/bluez/"): unpairable.append(String(words[1]))
            case ("changed", 4):
                guard let adapter = UInt16(words[1]), let settings = UInt32(words[2]), let instance = UInt8(words[3])
                else { continue }
                let switched = ControllerSettings(rawValue: settings)
                changes.append(AdapterChange(adapter: adapter, settings: switched, instance: instance))
            case ("advertised", 3):
                guard let adapter = UInt16(words[1]), let instance = UInt8(words[2]) else { continue }
                advertisements.append(AdapterAdvertisement(adapter: adapter, instance: instance))
            default: break
            }
        }
    }

    package var isEmpty: Bool {
        devices.isEmpty && unpairable.isEmpty && changes.isEmpty && advertisements.isEmpty
    }

    /// A line for each.
    package var bytes: [UInt8] {
        let lines =
            devices.map { "device \($0)\n" } + unpairable.map { "unpairable \($0)\n" }
            + changes.map { "changed \($0.adapter) \($0.settings.rawValue) \($0.instance)\n" }
            + advertisements.map { "advertised \($0.adapter) \($0.instance)\n" }
        return Array(lines.joined().utf8)
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
