package import Scanning

/// The two sets of scan commands (Core Specification 5.4, Vol 4, Part E, 7.8.10-11 and 7.8.64-65). A controller
/// refuses one set after the other has been used (3.1.1), and the kernel uses the extended set where it can.
package enum ScanFamily: Hashable, Sendable {
    case legacy, extended

    /// LE Controller Commands.
    static let group: UInt16 = 0x08
    static let readLocalSupportedCommands: UInt16 = 0x1002

    /// Chooses like the kernel, by the supported commands of the controller (6.27), octet 37, bits 5 and 6. The version
    /// is no indication: a Pi 4 reports 5.0 and has no extended scanning.
    ///
    /// - Parameter commands: the 64 octets that Read Local Supported Commands gives.
    package init(supportedCommands commands: Span<UInt8>) {
        self = commands.count > 37 && commands[37] & 0x60 == 0x60 ? .extended : .legacy
    }

    package var parametersCommand: UInt16 { self == .legacy ? 0x000b : 0x0041 }
    package var enableCommand: UInt16 { self == .legacy ? 0x000c : 0x0042 }

    /// Whether a command of the LE group is one of this set.
    func contains(_ command: UInt16) -> Bool { command == parametersCommand || command == enableCommand }

    /// Passive, own address public, every advertiser. Extended: on the 1M PHY.
    package func parameters(_ duty: ScanDuty) -> [UInt8] {
        var bytes: [UInt8] = self == .legacy ? [0] : [0, 0, 1, 0]
        bytes.append(littleEndian: duty.interval)
        bytes.append(littleEndian: duty.window)
        if self == .legacy { bytes += [0, 0] }
        return bytes
    }

    /// The duplicate filter is off; an extended scan continues until it is switched off.
    package func enable(_ on: Bool) -> [UInt8] {
        let switched: [UInt8] = [on ? 1 : 0, 0]
        return self == .legacy ? switched : switched + [0, 0, 0, 0]
    }
}
