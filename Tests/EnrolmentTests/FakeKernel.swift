import Base
import Beacon
import KernelScanning
import System

@testable import Enrolment

/// A kernel that does what it is told, and says so when it is let.
final class FakeKernel: ManagementChannel {
    typealias Opcode = ManagementCommand.Opcode

    var onMessage: ((Span<UInt8>, MonotonicInstant) -> Void)?
    var onFailure: ((String) -> Void)?
    private(set) var isOpen = false
    /// Every command, in words: `setPowered 1`, and the octets behind its device: `unpairDevice 00:AA:01:00:00:01 1`.
    private(set) var commands: [String] = []
    /// What it answers instead of success.
    var refusals: [Opcode: UInt8] = [:]
    /// Devices that are paired, as commands name them.
    var bonds: Set<DeviceAddress> = []
    var settings: ControllerSettings = [.lowEnergy]
    var supported: ControllerSettings = [.powered, .bondable, .lowEnergy, .secureConnections]
    /// How many advertisements there can be, and those of others.
    var advertisements: (most: UInt8, used: [UInt8]) = (4, [1])
    var isSilent = false
    private var answers: [[UInt8]] = []

    func open() { isOpen = true }
    func close() { isOpen = false }

    func send(_ command: ManagementCommand) throws(SystemError) {
        let device =
            command.parameters.count < 7 || command.opcode == .addAdvertising
            ? nil : DeviceAddress(littleEndian: command.parameters.span, at: 0, isRandom: command.parameters[6] == 2)
        let rest = command.parameters.dropFirst(device == nil ? 0 : 7)
        let words = ["\(command.opcode)"] + (device.map { ["\($0)"] } ?? []) + rest.map { "\($0)" }
        commands.append(words.joined(separator: " "))
        // It is answered when the phone's owner has decided.
        guard !isSilent, command.opcode != .pairDevice else { return }
        var status = refusals[command.opcode] ?? 0
        if command.opcode == .unpairDevice, status == 0, device.flatMap({ bonds.remove($0) }) == nil {
            status = ManagementStatus.notPaired
        }
        let result = status == 0 ? result(of: command) : []
        let index = command.opcode == .readIndexList ? ManagementCommand.noIndex : command.index
        answers.append(Self.message(1, index, octets(command.opcode.rawValue) + [status] + result))
    }

    private func result(of command: ManagementCommand) -> [UInt8] {
        switch command.opcode {
        case .readIndexList: [2, 0, 1, 0, 0, 0]
        case .readControllerInformation:
            [UInt8(command.index), 0, 0, 0, 0, 0xaa, 9, 0, 0] + octets(supported) + octets(settings) + [0, 0, 0]
        case .readAdvertisingFeatures:
            [0x7f, 0, 0, 0, 31, 31, advertisements.most, UInt8(advertisements.used.count)] + advertisements.used
        default: []
        }
    }

    /// Lets it answer the oldest command.
    func answerOnce() { if !answers.isEmpty { deliver(answers.removeFirst()) } }

    /// Lets it answer all that it was told, and what it is told then.
    func answer() {
        while !answers.isEmpty { deliver(answers.removeFirst()) }
    }

    /// An event of the first adapter.
    func says(_ code: UInt16, _ parameters: [UInt8], index: UInt16 = 0) {
        deliver(Self.message(code, index, parameters))
        answer()
    }

    private func deliver(_ message: [UInt8]) { onMessage?(message.span, .zero) }

    private static func message(_ code: UInt16, _ index: UInt16, _ parameters: [UInt8]) -> [UInt8] {
        octets(code) + octets(index) + octets(UInt16(parameters.count)) + parameters
    }
}

func octets(_ number: UInt16) -> [UInt8] { [UInt8(number & 0xff), UInt8(number >> 8)] }
func octets(_ settings: ControllerSettings) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: settings.rawValue >> (8 * UInt32($0))) }
}
