package import Scanning

/// Commands of the kernel's Bluetooth management interface (BlueZ, doc/mgmt-api.txt). The library's headers do not
/// contain them, so the few that are needed are declared here.
package struct ManagementCommand: Hashable, Sendable {
    package enum Opcode: UInt16, Sendable {
        case readSupportedCommands = 0x0002
        case readIndexList = 0x0003
        case readControllerInformation = 0x0004
        case setPowered = 0x0005
        case setBondable = 0x0009
        case setSecureSimplePairing = 0x000b
        case setLowEnergy = 0x000d
        case disconnect = 0x0014
        case setInputOutputCapability = 0x0018
        case pairDevice = 0x0019
        case unpairDevice = 0x001b
        case userConfirmationReply = 0x001c
        case userConfirmationNegativeReply = 0x001d
        case startDiscovery = 0x0023
        case stopDiscovery = 0x0024
        case setSecureConnections = 0x002d
        case loadIdentityResolvingKeys = 0x0030
        case loadConnectionParameters = 0x0035
        case readUnconfiguredIndexList = 0x0036
        case readConfigurationInformation = 0x0037
        case readAdvertisingFeatures = 0x003d
        case addAdvertising = 0x003e
        case removeAdvertising = 0x003f
        case setDefaultSystemConfiguration = 0x004c
        case readMonitorFeatures = 0x0051
        case addPatternsMonitor = 0x0052
        case removeMonitor = 0x0053
        case addExtendedAdvertisingParameters = 0x0054
        case addExtendedAdvertisingData = 0x0055
    }

    /// Means no particular controller.
    package static let noIndex: UInt16 = 0xffff

    package let opcode: Opcode
    package let index: UInt16
    package let parameters: [UInt8]

    package init(_ opcode: Opcode, _ index: UInt16, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.index = index
        self.parameters = parameters
    }

    package static let readSupportedCommands = Self(.readSupportedCommands, noIndex)
    package static let readIndexList = Self(.readIndexList, noIndex)

    package static let readUnconfiguredIndexList = Self(.readUnconfiguredIndexList, noIndex)

    package static func readConfigurationInformation(_ index: UInt16) -> Self {
        Self(.readConfigurationInformation, index)
    }

    package static func readControllerInformation(_ index: UInt16) -> Self { Self(.readControllerInformation, index) }
    package static func setPowered(_ index: UInt16, _ on: Bool) -> Self { Self(.setPowered, index, [on ? 1 : 0]) }
    package static func setLowEnergy(_ index: UInt16) -> Self { Self(.setLowEnergy, index, [1]) }
    /// Low Energy, with public and with random addresses.
    private static let lowEnergyAddresses: UInt8 = 0x06
    /// An active scan for at most 10.24 s.
    package static func startDiscovery(_ index: UInt16) -> Self { Self(.startDiscovery, index, [lowEnergyAddresses]) }
    package static func stopDiscovery(_ index: UInt16) -> Self { Self(.stopDiscovery, index, [lowEnergyAddresses]) }
    package static func readMonitorFeatures(_ index: UInt16) -> Self { Self(.readMonitorFeatures, index) }

    /// Sets the interval and window of scans that serve advertisement monitors (types 0x0013 and 0x0014).
    package static func setMonitorScan(_ index: UInt16, _ duty: ScanDuty) -> Self {
        var parameters: [UInt8] = []
        for (type, value) in [(0x0013, duty.interval), (0x0014, duty.window)] as [(UInt16, UInt16)] {
            parameters.append(littleEndian: type)
            parameters.append(2)
            parameters.append(littleEndian: value)
        }
        return Self(.setDefaultSystemConfiguration, index, parameters)
    }

    /// Adds a monitor for packets in which a structure begins with one of these patterns. Controllers that match
    /// patterns themselves deliver no other packets.
    package static func addMonitor(_ index: UInt16, _ patterns: [BeaconPacketPattern]) -> Self {
        // The number of patterns. For each: AD type, offset in its content, length, and always 31 octets of room.
        var parameters = [UInt8(truncatingIfNeeded: patterns.count)]
        for pattern in patterns {
            let start = pattern.start.prefix(31)
            parameters += [pattern.type, pattern.offset, UInt8(start.count)] + start
            parameters += [UInt8](repeating: 0, count: 31 - start.count)
        }
        return Self(.addPatternsMonitor, index, parameters)
    }

    package static func removeMonitor(_ index: UInt16, handle: UInt16) -> Self {
        var parameters: [UInt8] = []
        parameters.append(littleEndian: handle)
        return Self(.removeMonitor, index, parameters)
    }

    /// The command as it is written to the socket.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(6 + parameters.count)
        bytes.append(littleEndian: opcode.rawValue)
        bytes.append(littleEndian: index)
        bytes.append(littleEndian: UInt16(truncatingIfNeeded: parameters.count))
        bytes.append(contentsOf: parameters)
        return bytes
    }
}
