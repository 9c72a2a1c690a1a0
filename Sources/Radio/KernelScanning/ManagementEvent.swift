/// Decoded events of the management interface, without advertising reports.
package enum ManagementEvent: Hashable, Sendable {
    /// The answer to a command without return parameters, or to a failed command.
    case completed(ManagementCommand.Opcode, status: UInt8)
    case monitorAdded(handle: UInt16)
    /// How many monitors the adapter has, how many the kernel allows, and whether the controller matches patterns itself.
    case monitorFeatures(handles: Int, limit: Int, isFiltering: Bool)
    case supportedCommands([UInt16])
    case indexList([UInt16])
    case controllerInformation(ControllerInformation)
    /// What an unconfigured controller misses.
    case missingOptions(UInt32)
    case indexAdded
    case indexRemoved
    case newSettings(ControllerSettings)
    case discovering(Bool)
    /// Another program has added a monitor.
    case monitorOfOther
    case monitorRemoved(handle: UInt16)
    case suspended
    case resumed
    /// An event that is not used.
    case other

    package enum Code {
        package static let commandComplete: UInt16 = 0x0001
        package static let commandStatus: UInt16 = 0x0002
        package static let indexAdded: UInt16 = 0x0004
        package static let indexRemoved: UInt16 = 0x0005
        package static let newSettings: UInt16 = 0x0006
        package static let deviceFound: UInt16 = 0x0012
        package static let discovering: UInt16 = 0x0013
        package static let advertisingRemoved: UInt16 = 0x0024
        package static let monitorAdded: UInt16 = 0x002b
        package static let monitorRemoved: UInt16 = 0x002c
        package static let suspended: UInt16 = 0x002d
        package static let resumed: UInt16 = 0x002e
        package static let monitorDeviceFound: UInt16 = 0x002f
    }

    /// - Parameter parameters: The message without its header.
    /// - Returns: nil if there are fewer parameters than the event has.
    package init?(code: UInt16, parameters: Span<UInt8>) {
        switch code {
        case Code.commandComplete, Code.commandStatus:
            guard let answer = Self.answer(parameters) else { return nil }
            self = answer
        case Code.indexAdded: self = .indexAdded
        case Code.indexRemoved: self = .indexRemoved
        case Code.newSettings:
            guard let settings = parameters.littleEndian32(at: 0) else { return nil }
            self = .newSettings(ControllerSettings(rawValue: settings))
        case Code.discovering:
            guard parameters.count >= 2 else { return nil }
            self = .discovering(parameters[1] != 0)
        case Code.monitorAdded: self = .monitorOfOther
        case Code.monitorRemoved:
            guard let handle = parameters.littleEndian16(at: 0) else { return nil }
            self = .monitorRemoved(handle: handle)
        case Code.suspended: self = .suspended
        case Code.resumed: self = .resumed
        default: self = .other
        }
    }

    /// Opcode, status, and the return parameters of the command.
    private static func answer(_ parameters: Span<UInt8>) -> ManagementEvent? {
        guard let opcode = parameters.littleEndian16(at: 0), parameters.count >= 3 else { return nil }
        let status = parameters[2]
        guard let command = ManagementCommand.Opcode(rawValue: opcode) else { return .other }
        guard status == ManagementStatus.success else { return .completed(command, status: status) }
        let result = parameters.extracting(3...)
        switch command {
        case .readSupportedCommands:
            guard let commands = result.littleEndian16(at: 0) else { return nil }
            return numbers(in: result, from: 4, count: Int(commands)).map(ManagementEvent.supportedCommands)
        case .readIndexList, .readUnconfiguredIndexList:
            guard let count = result.littleEndian16(at: 0) else { return nil }
            return numbers(in: result, from: 2, count: Int(count)).map(ManagementEvent.indexList)
        case .readConfigurationInformation:
            // Manufacturer (2), supported options (4), missing options (4).
            return result.littleEndian32(at: 6).map(ManagementEvent.missingOptions)
        case .readControllerInformation:
            return ControllerInformation(result).map(ManagementEvent.controllerInformation)
        case .setPowered, .setLowEnergy:
            return result.littleEndian32(at: 0).map { .newSettings(ControllerSettings(rawValue: $0)) }
        case .readMonitorFeatures:
            // Supported and enabled features, the largest numbers of handles and patterns, then the number of handles.
            guard let limit = result.littleEndian16(at: 8), let handles = result.littleEndian16(at: 11) else {
                return nil
            }
            // The kernel matches patterns for any adapter. It names that feature of those whose controller does it.
            let features = result.littleEndian32(at: 0) ?? 0
            return .monitorFeatures(handles: Int(handles), limit: Int(limit), isFiltering: features & 1 != 0)
        case .addPatternsMonitor:
            return result.littleEndian16(at: 0).map { .monitorAdded(handle: $0) }
        default:
            return .completed(command, status: status)
        }
    }

    private static func numbers(in bytes: Span<UInt8>, from offset: Int, count: Int) -> [UInt16]? {
        var numbers: [UInt16] = []
        for index in 0..<count {
            guard let number = bytes.littleEndian16(at: offset + 2 * index) else { return nil }
            numbers.append(number)
        }
        return numbers
    }
}
