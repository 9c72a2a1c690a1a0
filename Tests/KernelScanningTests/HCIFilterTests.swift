import CBluetooth
import TestSupport
import Testing

@testable import KernelScanning

@Suite struct HCIFilterTests {
    /// Runs a program as the kernel does: the number of bytes that are let through.
    private static func run(_ program: [sock_filter], _ packet: [UInt8]) -> UInt32 {
        var (accumulator, index) = (UInt32(0), 0)
        while index < program.count {
            let instruction = program[index]
            let offset = Int(instruction.k)
            index += 1
            switch Int32(instruction.code) {
            case BPF_LD | BPF_B | BPF_ABS:
                guard offset < packet.count else { return 0 }
                accumulator = UInt32(packet[offset])
            case BPF_LD | BPF_H | BPF_ABS:
                guard offset + 1 < packet.count else { return 0 }
                accumulator = UInt32(packet[offset]) << 8 | UInt32(packet[offset + 1])
            case BPF_JMP | BPF_JEQ | BPF_K:
                index += Int(accumulator == instruction.k ? instruction.jt : instruction.jf)
            case BPF_JMP | BPF_JA: index += offset
            case BPF_RET | BPF_K: return instruction.k
            default:
                Issue.record("instruction \(instruction.code)")
                return 0
            }
        }
        Issue.record("the program has no end")
        return 0
    }

    private static let filter = HCIFilter(opcodes: ScanCommand.opcodes, hasReports: false)

    @Test(
        arguments: [0x0c03, 0x200b, 0x200c, 0x2041, 0x2042, 0x1009, 0x0b20, 0x2000, 0x2040, 0x2043, 0x0406] as [UInt16])
    func `Commands and answers come if they are about the scan`(opcode: UInt16) {
        let octets = ScriptedKernel.octets(opcode)
        let packets: [[UInt8]] = [
            [1] + octets + [2, 1, 0], [4, 0x0e, 4, 1] + octets + [0], [4, 0x0f, 4, 0, 1] + octets,
        ]
        for packet in packets {
            #expect(Self.run(Self.filter.program, packet) == (ScanCommand.opcodes.contains(opcode) ? .max : 0))
        }
    }

    @Test(
        arguments: [0x0001, 0x0002, 0x0006, 0x0012, 0x0013, 0x0024, 0x002e, 0x002f, 0x0030, 0x1200, 0x2f00] as [UInt16])
    func `A socket that gives commands alone is told of no packets, and of all else`(code: UInt16) {
        let filter = ManagementFilter(leftOut: [0x0012, 0x002f])
        let message = ScriptedKernel.message(code, 0, [0x12, 0, 0x2f, 0])
        #expect(Self.run(filter.program, message) == ([0x0012, 0x002f].contains(code) ? 0 : .max))
        #expect(Self.run(ManagementFilter(leftOut: []).program, message) == .max)
    }

    @Test func `What is not about commands is left to the choice of events`() {
        #expect(Self.run(Self.filter.program, [4, 0x3e, 2, 2, 0]) == .max)
        #expect(Self.filter.events == [0x0e, 0x0f])
        #expect(HCIFilter(opcodes: [], hasReports: true).events == [0x0e, 0x0f, 0x3e])
    }

    @Test func `A cut packet is dropped`() {
        for packet in [[], [1], [1, 0x0c], [4], [4, 0x0e, 4, 1, 0x0c], [4, 0x0f, 4, 0, 1]] as [[UInt8]] {
            #expect(Self.run(Self.filter.program, packet) == 0)
        }
    }

    @Test func `The program ends for every packet`() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<10_000 {
            let packet = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                UInt8.random(in: 0...0x42, using: &random)
            }
            _ = Self.run(Self.filter.program, packet)
        }
    }
}
