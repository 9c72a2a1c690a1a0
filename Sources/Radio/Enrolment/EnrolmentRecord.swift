import Base
package import Beacon
package import Identities
package import KernelScanning

/// What an enrolment without bluetoothd has changed at an adapter.
package struct AdapterChange: Hashable, Sendable {
    package let adapter: UInt16
    /// What was switched on.
    package var settings: ControllerSettings
    /// The number of its advertisement.
    package let instance: UInt8

    package init(adapter: UInt16, settings: ControllerSettings, instance: UInt8) {
        (self.adapter, self.settings, self.instance) = (adapter, settings, instance)
    }
}

/// An advertisement that an enrolment beside bluetoothd has asked the kernel for.
package struct AdapterAdvertisement: Hashable, Sendable {
    package let adapter: UInt16
    package let instance: UInt8

    package init(adapter: UInt16, instance: UInt8) { (self.adapter, self.instance) = (adapter, instance) }
}

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
