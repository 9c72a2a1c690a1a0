import Beacon
import Identities
import KernelScanning
import System

/// Commands of the management interface that pair (BlueZ, doc/mgmt-api.txt).
extension ManagementCommand {
    /// A device, as commands and events name it: the address, and 1 for a public or 2 for a random one of Low Energy.
    init(_ opcode: Opcode, _ index: UInt16, of device: DeviceAddress, _ more: [UInt8] = []) {
        let octets = (0..<6).map { UInt8(truncatingIfNeeded: device.value >> (8 * UInt64($0))) }
        self.init(opcode, index, octets + [device.isRandom ? 2 : 1] + more)
    }

    /// Advertises the accessory, connectable and discoverable (flags 3).
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
        let head: [UInt8] = [instance, 3, 0, 0, 0, 0, 0, UInt8(seconds & 0xff), UInt8(seconds >> 8)]
        return ManagementCommand(.addAdvertising, index, head + [UInt8(data.count), 0] + data)
    }
}

/// What the management interface says of pairings.
enum PairingEvent: Hashable {
    case connected(DeviceAddress)
    case disconnected(DeviceAddress)
    /// Somebody must agree.
    case question(DeviceAddress)
    case failed(DeviceAddress, status: UInt8)
    /// There is a key of the connection. It comes after the key of the identity.
    case paired(DeviceAddress)
    /// - Parameter key: nil for the zeros of a device that has none.
    case identity(of: DeviceAddress, DeviceAddress, key: IdentityKey?)

    /// - Returns: nil for an event of another kind, of a device that is not Low Energy, or with too few parameters.
    init?(code: UInt16, parameters: Span<UInt8>) {
        switch code {
        case 0x000b: self.init(parameters, 0) { .connected($0) }
        case 0x000c: self.init(parameters, 0) { .disconnected($0) }
        case 0x000f: self.init(parameters, 0) { .question($0) }
        case 0x0011 where parameters.count >= 8:
            let status = parameters[7]
            self.init(parameters, 0) { .failed($0, status: status) }
        // A hint whether to store it, the device, …
        case 0x000a: self.init(parameters, 1) { .paired($0) }
        // A hint whether to store it, the private address, the identity with its type, the key.
        case 0x0018 where parameters.count >= 30:
            guard let address = DeviceAddress(littleEndian: parameters, at: 1, isRandom: true) else { return nil }
            // The kernel has the least significant octet first.
            let octets = (0..<16).map { UInt64(parameters[29 - $0]) }
            let (high, low) = (octets[..<8].reduce(0) { $0 << 8 | $1 }, octets[8...].reduce(0) { $0 << 8 | $1 })
            let key = high | low == 0 ? nil : IdentityKey(high: high, low: low)
            self.init(parameters, 7) { .identity(of: address, $0, key: key) }
        default: return nil
        }
    }

    /// Reads a device at `offset`.
    private init?(_ parameters: Span<UInt8>, _ offset: Int, _ make: (DeviceAddress) -> PairingEvent) {
        guard parameters.count >= offset + 7, 1...2 ~= parameters[offset + 6],
            let device = DeviceAddress(littleEndian: parameters, at: offset, isRandom: parameters[offset + 6] == 2)
        else { return nil }
        self = make(device)
    }
}

/// Gives the kernel one command after the other. It answers some with `busy` while another is under way.
final class CommandQueue {
    typealias Answer = (_ status: UInt8, _ result: [UInt8]) -> Void

    private let channel: any ManagementChannel
    private var waiting: [(command: ManagementCommand, answer: Answer)] = []

    init(_ channel: any ManagementChannel) { self.channel = channel }

    func ask(_ command: ManagementCommand, _ answer: @escaping Answer = { _, _ in }) {
        waiting.append((command, answer))
        if waiting.count == 1 { send() }
    }

    /// Takes the kernel's answer to a command.
    func answered(_ opcode: UInt16, status: UInt8, _ result: [UInt8]) {
        guard waiting.first?.command.opcode.rawValue == opcode else { return }
        let answer = waiting.removeFirst().answer
        send()
        answer(status, result)
    }

    private func send() {
        guard let command = waiting.first?.command, (try? channel.send(command)) == nil else { return }
        answered(command.opcode.rawValue, status: ManagementStatus.failed, [])
    }
}
