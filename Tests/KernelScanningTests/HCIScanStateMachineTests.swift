import Base
import Scanning
import Testing

@testable import KernelScanning

/// What happens to a session, one by one.
enum Happening: Sendable {
    case open, missing, elapsed, restart, stop, fails
    /// The controller answers a command of the legacy set.
    case commands
    case parameters(status: UInt8)
    case enable(status: UInt8)
    /// Another group than LE.
    case other
    /// Another program's command is accepted.
    case foreign(ScanCommand?)

    static let accepted = [Happening.open, .commands, .parameters(status: 0), .enable(status: 0)]
}

@Suite struct HCIScanStateMachineTests {
    private typealias Machine = HCIScanStateMachine

    /// - Returns: The machine after these, and what it answered to the last.
    private static func after(
        _ happenings: [Happening], listensOnly: Bool = false
    ) -> (machine: Machine, actions: [Machine.Action]) {
        var machine = Machine(duty: .full, listensOnly: listensOnly)
        var actions: [Machine.Action] = []
        for happening in happenings {
            let now = MonotonicInstant.zero
            func answered(_ opcode: UInt16, _ status: UInt8) -> [Machine.Action] {
                let result = [UInt8](repeating: 0, count: 64)
                return machine.answered(opcode, status: status, result: result.span, at: now)
            }
            switch happening {
            case .open: actions = machine.started(isOpen: true)
            case .missing: actions = machine.started(isOpen: false)
            case .elapsed: actions = machine.elapsed(at: now)
            case .restart: actions = machine.restart()
            case .stop: actions = machine.stop()
            case .fails: actions = machine.socketFailed("no")
            case .commands: actions = answered(0x1002, 0)
            case .parameters(let status): actions = answered(0x200b, status)
            case .enable(let status): actions = answered(0x200c, status)
            case .other: actions = answered(0x0c03, 0)
            case .foreign(let command): if let command { actions = machine.foreignCommand(command, at: now) }
            }
        }
        return (machine, actions)
    }

    @Test(
        arguments: [
            ([], .idle),
            ([.missing], .waiting),
            ([.open], .askingCommands),
            ([.open, .other], .askingCommands),
            ([.open, .enable(status: 0)], .askingCommands),
            ([.open, .elapsed], .waiting),
            ([.open, .commands], .settingParameters(.legacy)),
            ([.open, .commands, .commands], .settingParameters(.legacy)),
            ([.open, .commands, .elapsed], .waiting),
            ([.open, .commands, .parameters(status: 0)], .enabling(.legacy)),
            ([.open, .commands, .parameters(status: 0x12)], .failed(.legacy)),
            ([.open, .commands, .parameters(status: 0x12), .elapsed], .failed(.legacy)),
            ([.open, .commands, .parameters(status: 0x12), .restart], .settingParameters(.legacy)),
            ([.open, .commands, .parameters(status: 0x0c)], .yielding(.legacy)),
            // The controller took the parameters, so no other scan is on.
            ([.open, .commands, .parameters(status: 0), .enable(status: 0x0c)], .failed(.legacy)),
            (
                [
                    .open, .commands, .parameters(status: 0), .enable(status: 0x0c), .restart,
                    .parameters(status: 0x0c),
                ], .failed(.legacy)
            ),
            // The other program's scan is over, and the controller refuses all the same.
            ([.open, .commands, .foreign(.legacyEnable(0)), .parameters(status: 0x0c)], .failed(.legacy)),
            ([.open, .commands, .foreign(.hciReset), .parameters(status: 0x0c)], .failed(.legacy)),
            (
                [
                    .open, .commands, .foreign(.legacyEnable(0)), .foreign(.legacyEnable(1)),
                    .parameters(status: 0x0c),
                ], .yielding(.legacy)
            ),
            ([.open, .commands, .parameters(status: 0x0c), .enable(status: 0)], .yielding(.legacy)),
            ([.open, .commands, .parameters(status: 0x0c), .foreign(.legacyEnable(1))], .yielding(.legacy)),
            ([.open, .commands, .parameters(status: 0x0c), .elapsed], .settingParameters(.legacy)),
            (Happening.accepted, .scanning(.legacy)),
            (Happening.accepted + [.elapsed], .scanning(.legacy)),
            (Happening.accepted + [.other], .scanning(.legacy)),
            (Happening.accepted + [.foreign(.legacyParameters())], .waiting),
            (Happening.accepted + [.foreign(.legacyEnable(1))], .waiting),
            (Happening.accepted + [.foreign(.hciReset)], .waiting),
            (Happening.accepted + [.foreign(.extendedEnable(0))], .scanning(.legacy)),
            (Happening.accepted + [.fails], .waiting),
            (Happening.accepted + [.restart], .disabling(.legacy)),
            (Happening.accepted + [.restart, .restart], .disabling(.legacy)),
            (Happening.accepted + [.restart, .elapsed], .waiting),
            (Happening.accepted + [.restart, .enable(status: 0)], .settingParameters(.legacy)),
            (Happening.accepted + [.stop], .idle),
        ] as [([Happening], HCIScanStateMachine.State)])
    func `Each answer, deadline and order leads to one state`(
        happenings: [Happening], state: HCIScanStateMachine.State
    ) {
        #expect(Self.after(happenings).machine.state == state)
    }

    @Test(arguments: [Happening.elapsed, .enable(status: 0), .restart, .other])
    func `One who only listens sends no command`(happening: Happening) {
        let (machine, actions) = Self.after([.open, happening], listensOnly: true)
        #expect(machine.state == .listening)
        #expect(actions.isEmpty)
    }

    @Test(
        arguments: [
            ([], false), ([.open], false), ([.open, .commands], false),
            ([.open, .commands, .parameters(status: 0)], true), (Happening.accepted, true),
            (Happening.accepted + [.restart], false), ([.open, .commands, .parameters(status: 0x0c)], false),
        ] as [([Happening], Bool)])
    func `A stop switches off the gateway's own scan and no other`(happenings: [Happening], isOwn: Bool) {
        let actions = Self.after(happenings + [.stop]).actions
        #expect(actions == (isOwn ? [.send(0x0c, [0, 0])] : []) + [.close])
    }

    @Test func `After a pause the session begins anew, with another socket`() {
        #expect(Self.after([.missing]).actions == [.schedule(.seconds(1))])
        #expect(Self.after([.missing, .elapsed]).actions == [.start])
    }

    @Test func `The first silence of a controller is no hang, and the second is`() {
        let silence = HCIScanStateMachine.Action.pauses(because: "the controller does not answer")
        #expect(Self.after([.open, .elapsed]).actions == [silence, .schedule(.seconds(1))])
        #expect(Self.after([.open, .elapsed, .open, .elapsed]).actions == [silence, .hangs])
        let answered = Self.after([.open, .elapsed, .open, .commands, .elapsed]).actions
        #expect(answered == [silence, .schedule(.seconds(1))], "an answer in between")
    }
}
