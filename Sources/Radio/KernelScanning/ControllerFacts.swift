import CBluetooth
import Glibc
package import Scanning

/// What a controller can do, without its address. For a report to a maintainer.
package struct ControllerFacts: Hashable, Sendable {
    /// `hci` and this number.
    package let index: UInt16
    /// HCI version (Assigned Numbers, 2.1): 8 is Bluetooth 4.2, 9 is 5.0.
    package let version: UInt8
    /// Company identifier (Assigned Numbers, 7.1): 15 is Broadcom, 305 Cypress.
    package let manufacturer: UInt16
    /// The names of the settings that the management interface says it supports.
    package let supportedSettings: [String]
    package let isPowered: Bool
    /// Whether it has the commands of extended scanning; nil if it did not answer.
    package let hasExtendedScanning: Bool?
    /// The LE features (Core Specification 5.4, Vol 6, Part B, 4.6) as a number; nil if it did not answer.
    package let lowEnergyFeatures: UInt64?
    /// Number of monitors that programs have set; nil if the kernel does not say.
    package let monitors: Int?

    package init(
        index: UInt16, version: UInt8, manufacturer: UInt16, supportedSettings: [String], isPowered: Bool,
        hasExtendedScanning: Bool?, lowEnergyFeatures: UInt64?, monitors: Int?
    ) {
        (self.index, self.version, self.manufacturer) = (index, version, manufacturer)
        (self.supportedSettings, self.isPowered, self.monitors) = (supportedSettings, isPowered, monitors)
        (self.hasExtendedScanning, self.lowEnergyFeatures) = (hasExtendedScanning, lowEnergyFeatures)
    }

    /// Reads the facts of every selected adapter. The kernel answers most by itself. Two harmless commands go to the
    /// controller, which answers them in milliseconds while it scans.
    package static func read(_ selection: AdapterSelection = .all) -> [ControllerFacts] {
        RadioDiagnosis.controllers(selection).map { index, information, monitors in
            // The status, the 64 octets of Read Local Supported Commands, or the 8 of LE Read Local Supported Features.
            let commands = answer(of: index, OGF_INFO_PARAM, OCF_READ_LOCAL_COMMANDS)
            let features = answer(of: index, OGF_LE_CTL, OCF_LE_READ_LOCAL_SUPPORTED_FEATURES)
            return ControllerFacts(
                index: index, version: information.version, manufacturer: information.manufacturer,
                supportedSettings: information.supported.names, isPowered: information.current.contains(.powered),
                hasExtendedScanning: commands.map { ScanFamily(supportedCommands: $0.span) == .extended },
                lowEnergyFeatures: features.flatMap { octets in
                    octets.count < 8 ? nil : octets.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
                },
                monitors: monitors)
        }
    }

    /// Sends a command without parameters and waits for the answer, for as long as the kernel itself does.
    ///
    /// - Returns: The return parameters after a status of success; nil without such an answer.
    private static func answer(of index: UInt16, _ group: Int32, _ command: Int32) -> [UInt8]? {
        guard let socket = try? HCISocket(index), (try? socket.listen(to: [EVT_CMD_COMPLETE])) != nil,
            (try? socket.command(group: group, command: command, parameters: [])) != nil
        else { return nil }
        let opcode = UInt16(group) << 10 | UInt16(command)
        var answer: [UInt8]?
        // Answers to commands of other programs come in between.
        for _ in 0..<16 where answer == nil {
            var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 2000) > 0 else { return nil }
            let failure = socket.receive { packet in
                // Packet type, event code, length, number of commands, opcode, status.
                guard packet.count >= 7, packet[1] == UInt8(EVT_CMD_COMPLETE), packet.littleEndian16(at: 4) == opcode
                else { return true }
                answer = packet[6] == 0 ? (7..<packet.count).map { packet[$0] } : []
                return false
            }
            if failure != nil { return nil }
        }
        return answer.flatMap { $0.isEmpty ? nil : $0 }
    }
}
