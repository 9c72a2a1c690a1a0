import Base
import Scanning
import TestSupport
import Testing

@testable import KernelScanning

extension ScanCommand {
    /// Commands as programs send them.
    static func legacyParameters(window: UInt8 = 96, policy: UInt8 = 0) -> ScanCommand? {
        of(0x200b, [0, 96, 0, window, 0, 0, policy])
    }
    static func legacyEnable(_ on: UInt8, filter: UInt8 = 0) -> ScanCommand? { of(0x200c, [on, filter]) }
    static func extendedParameters(policy: UInt8 = 0, phys: UInt8 = 1) -> ScanCommand? {
        of(0x2041, [0, policy, phys, 0, 96, 0, 48, 0])
    }
    static func extendedEnable(_ on: UInt8, filter: UInt8 = 0, duration: UInt8 = 0) -> ScanCommand? {
        of(0x2042, [on, filter, duration, 0, 0, 0])
    }
    static var hciReset: ScanCommand? { of(0x0c03, []) }

    private static func of(_ opcode: UInt16, _ parameters: [UInt8]) -> ScanCommand? {
        ScanCommand(opcode: opcode, parameters: parameters.span)
    }
}

/// What a controller does, one by one.
private enum Deed: Sendable {
    /// A command with its answer; nil: none.
    case command(ScanCommand?, UInt8?)
    case passes(Duration)
    /// A late answer.
    case answer(UInt16, UInt8)
    case heard

    static func on(filter: UInt8 = 0, _ status: UInt8? = 0) -> Deed {
        .command(.legacyEnable(1, filter: filter), status)
    }
    static func off(_ status: UInt8? = 0) -> Deed { .command(.legacyEnable(0), status) }
    static let parameters = Deed.command(.legacyParameters(), 0)
    static let scans = [parameters, on()]
}

@Suite struct ScanEvidenceTests {
    private static func after(_ deeds: [Deed]) throws -> ScanEvidence {
        var evidence = ScanEvidence()
        var now = MonotonicInstant.zero
        for deed in deeds {
            switch deed {
            case .command(let command, let status):
                let command = try #require(command)
                evidence.sent(command, at: now)
                if let status { evidence.answered(command.opcode, status: status, at: now) }
            case .passes(let time):
                now = now.advanced(by: time)
                evidence.elapsed(at: now)
            case .answer(let opcode, let status): evidence.answered(opcode, status: status, at: now)
            case .heard: evidence.heard(at: now)
            }
        }
        return evidence
    }

    /// Each with the reason why it proves no listening; nil: it does.
    @Test(
        arguments: [
            ([], "no scan command was seen yet"),
            ([.heard], nil),
            ([.parameters], "the scan is switched off"),
            ([.heard, .parameters], "the scan is switched off"),
            (Deed.scans, nil),
            ([.on()], nil),
            (Deed.scans + [.off()], "the scan is switched off"),
            (Deed.scans + [.off(), .heard], "the scan is switched off"),
            (Deed.scans + [.off(nil)], "the scan is switched off"),
            (Deed.scans + [.command(.hciReset, 0)], "the scan is switched off"),
            ([.parameters, .on(0x0c)], "the controller refuses to scan: Command Disallowed (0x0c)"),
            ([.parameters, .on(0x2f)], "the controller refuses to scan: HCI error 0x2f"),
            ([.parameters, .on(0x0c), .on()], nil),
            ([.parameters, .on(0x0c), .off()], "the controller refuses to scan: Command Disallowed (0x0c)"),
            ([.parameters, .on(0x0c), .command(.hciReset, 0)], "the scan is switched off"),
            (
                [.command(.legacyParameters(), 0x12)],
                "the controller refuses to set the parameters of the scan: Invalid HCI Command Parameters (0x12)"
            ),
            (Deed.scans + [.off(0x0c)], "the controller refuses to stop its scan: Command Disallowed (0x0c)"),
            // What the controller does not stop goes on as long as reports come.
            (Deed.scans + [.off(0x0c), .heard], nil),
            (Deed.scans + [.off(0x0c), .heard, .off(0x0c)], nil),
            (
                Deed.scans + [.off(0x0c), .heard, .passes(.seconds(1))],
                "the controller refuses to stop its scan: Command Disallowed (0x0c)"
            ),
            (Deed.scans + [.off(0x0c), .off()], "the scan is switched off"),
            ([.on(filter: 1), .off(0x0c), .heard], "another program's scan reports each advertiser once"),
            (
                [.parameters, .on(0x0c), .heard],
                "the controller refuses to scan: Command Disallowed (0x0c)"
            ),
            (Deed.scans + [.command(.hciReset, 0x0c)], "the controller refuses to reset: Command Disallowed (0x0c)"),
            ([.parameters, .on(nil), .passes(.milliseconds(999))], "the scan is switched off"),
            ([.parameters, .on(nil), .passes(.seconds(1))], "the controller does not answer the command to scan"),
            (
                Deed.scans + [.off(nil), .passes(.seconds(1))],
                "the controller does not answer the command to stop its scan"
            ),
            (
                [.parameters, .on(nil), .passes(.seconds(1)), .parameters, .on(nil)],
                "the controller does not answer the command to scan"
            ),
            ([.parameters, .on(nil), .passes(.seconds(1)), .answer(0x200c, 0)], nil),
            (
                [.parameters, .on(nil), .passes(.seconds(1)), .off(), .answer(0x200c, 0)],
                "no scan command was seen yet"
            ),
            ([.on(filter: 1)], "another program's scan reports each advertiser once"),
            (
                [.command(.legacyParameters(policy: 1), 0), .on()],
                "another program's scan is limited to a list of devices"
            ),
            ([.command(.legacyParameters(policy: 2), 0), .on()], nil),
            (
                [.command(.legacyParameters(policy: 3), 0), .on()],
                "another program's scan is limited to a list of devices"
            ),
            (
                [.command(.extendedParameters(policy: 1), 0), .command(.extendedEnable(1), 0)],
                "another program's scan is limited to a list of devices"
            ),
            (
                [.command(.extendedParameters(phys: 4), 0), .command(.extendedEnable(1), 0)],
                "another program's scan leaves out the 1M PHY"
            ),
            (
                [.command(.extendedParameters(), 0), .command(.extendedEnable(1, filter: 2), 0)],
                "another program's scan reports each advertiser once"
            ),
            ([.command(.extendedEnable(1, duration: 200), 0), .passes(.milliseconds(1999))], nil),
            ([.command(.extendedEnable(1, duration: 200), 0), .passes(.seconds(2))], "the scan is switched off"),
            ([.command(.extendedEnable(1), 0), .passes(.seconds(2000))], nil),
            // What is refused does not touch a scan of the other set, nor parameters one that is on.
            ([.command(.extendedEnable(1), 0), .command(.legacyParameters(), 0x0c)], nil),
            ([.command(.extendedEnable(1), 0), .off(0x0c)], nil),
            ([.command(.extendedEnable(1), 0), .on(filter: 1, 0x0c)], nil),
            (Deed.scans + [.command(.legacyParameters(), 0x0c)], nil),
            (Deed.scans + [.on(0x0c)], "the controller refuses to scan: Command Disallowed (0x0c)"),
            // An answer without a command: on or off?
            (Deed.scans + [.answer(0x200c, 0)], "no scan command was seen yet"),
            (Deed.scans + [.answer(0x200c, 0x0c)], nil),
            (Deed.scans + [.answer(0x1009, 0)], nil),
        ] as [([Deed], String?)])
    fileprivate func `What the controller answered decides whether it listens`(deeds: [Deed], objection: String?) throws
    {
        #expect(try Self.after(deeds).claim.objection == objection)
    }

    @Test(arguments: [(96, 1.0), (48, 0.5), (24, 0.25), (5, 5.0 / 96)] as [(UInt8, Double)])
    func `The window shows how much of the time the radio listens`(window: UInt8, duty: Double) throws {
        #expect(try Self.after([.command(.legacyParameters(window: window), 0), .on()]).claim.duty == duty)
    }

    @Test func `Parameters of an earlier life of the controller are not known`() throws {
        #expect(try Self.after([.on()]).claim.duty == nil)
        #expect(try Self.after([.parameters, .command(.hciReset, 0), .on()]).claim.duty == nil)
    }

    @Test func `Every failure counts, and what harms nobody does not`() throws {
        #expect(try Self.after([.parameters, .on(0x0c), .on(0x0c), .on(nil), .passes(.seconds(1))]).failures == 3)
        #expect(try Self.after(Deed.scans + [.command(.legacyParameters(), 0x0c)]).failures == 0)
    }

    @Test func `The deadline is that of the oldest command without an answer, or the end of the scan`() throws {
        #expect(try Self.after(Deed.scans).nextDeadline == nil)
        #expect(try Self.after([.passes(.seconds(3)), .on(nil)]).nextDeadline == .zero.advanced(by: .seconds(4)))
        #expect(try Self.after([.on(nil), .passes(.seconds(1))]).nextDeadline == nil)
        #expect(
            try Self.after([.command(.extendedEnable(1, duration: 50), 0)]).nextDeadline
                == .zero.advanced(by: .milliseconds(500)))
    }

    @Test func `A flood of commands without answers takes no more memory than eight, and loses the oldest`() throws {
        let evidence = try Self.after([Deed](repeating: .on(nil), count: 1000) + [.passes(.seconds(1))])
        #expect(evidence.failures == 8)
    }

    @Test func `After a loss of packets nothing is known, and the failures stay counted`() throws {
        var evidence = try Self.after([.parameters, .on(0x0c)])
        evidence.forget()
        #expect(evidence.claim == .unknown)
        #expect(evidence.failures == 1)
    }

    @Test(
        arguments: [
            (0x200b, []), (0x200b, [0, 96, 0, 96, 0, 0]), (0x200c, []), (0x200c, [1]),
            (0x2041, [0, 0, 1, 0, 96, 0, 48]),
            (0x2042, [1]), (0x1009, []), (0x200d, [UInt8](repeating: 0, count: 25)), (0x000c, [1, 0]),
            (0x0405, [1, 0]),
        ] as [(UInt16, [UInt8])])
    func `Another command, or a cut one, is none of the scan`(opcode: UInt16, parameters: [UInt8]) {
        #expect(ScanCommand(opcode: opcode, parameters: parameters.span) == nil)
    }

    @Test func `No bytes and no order of them break it`() {
        var random = SplitMix64(seed: 52)
        var evidence = ScanEvidence()
        var now = MonotonicInstant.zero
        for _ in 0..<20_000 {
            let opcode = ScanCommand.opcodes.randomElement(using: &random) ?? 0
            let bytes = (0..<Int.random(in: 0...9, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random) }
            switch Int.random(in: 0...3, using: &random) {
            case 0:
                if let command = ScanCommand(opcode: opcode, parameters: bytes.span) { evidence.sent(command, at: now) }
            case 1: evidence.answered(opcode, status: bytes.first ?? 0, at: now)
            case 2:
                now = now.advanced(by: .milliseconds(Int.random(in: 0...700, using: &random)))
                evidence.elapsed(at: now)
            default: evidence.heard(at: now)
            }
            if let due = evidence.nextDeadline { #expect(due > now.advanced(by: .seconds(-1))) }
        }
    }
}
