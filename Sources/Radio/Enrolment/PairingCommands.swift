import Beacon
import KernelScanning

/// Commands of the management interface that pair (BlueZ, doc/mgmt-api.txt).
extension ManagementCommand {
    /// A device, as commands and events name it: the address, and 1 for a public or 2 for a random one of Low Energy.
    init(_ opcode: Opcode, _ index: UInt16, of device: DeviceAddress, _ more: [UInt8] = []) {
        let octets = (0..<6).map { UInt8(truncatingIfNeeded: device.value >> (8 * UInt64($0))) }
        self.init(opcode, index, octets + [device.isRandom ? 2 : 1] + more)
    }

    /// Advertises the accessory, connectable and discoverable.
    ///
    /// - Parameter seconds: Afterwards the kernel removes the advertisement, also when the program was killed.
    static func advertise(
        _ index: UInt16, instance: UInt8, _ appearance: EnrolmentAppearance, seconds: UInt16
    ) -> ManagementCommand {
        let (service, look) = (appearance.profile.number, appearance.profile.appearance)
        let name = Array(appearance.name.utf8.prefix(18))
        // The kernel puts the structure of flags before these: services, appearance, name. They have 28 octets.
        let data: [UInt8] =
            [3, 0x03, UInt8(service & 0xff), UInt8(service >> 8), 3, 0x19, UInt8(look & 0xff), UInt8(look >> 8)]
            + [UInt8(name.count + 1), 0x09] + name
        return .addAdvertising(index, instance: instance, data, seconds: seconds, flags: [.connectable, .discoverable])
    }
}
