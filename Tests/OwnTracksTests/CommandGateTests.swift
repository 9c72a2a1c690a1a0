import Base
import JSON
import Testing

@testable import OwnTracks

/// Which command a service obeys, which one may be retained, and how refusals are counted.
@Suite struct CommandGateTests {
    private static let payloads: [(action: String, members: String)] = [
        ("reportLocation", ""), ("waypoints", ""), ("setWaypoints", #","waypoints":[]"#), ("clearWaypoints", ""),
        ("setConfiguration", #","configuration":{"_type":"configuration"}"#), ("dump", ""), ("status", ""),
    ]

    private static let allRights = CommandGate.Rights(
        obeysCommands: true, allowsRemoteConfiguration: true, needsEncryption: false)

    private func received(
        _ row: (action: String, members: String), isRetained: Bool = false, wasEncrypted: Bool = false
    ) -> ReceivedCommand {
        let text = #"{"_type":"cmd","action":"\#(row.action)"\#(row.members)}"#
        return ReceivedCommand(
            tracker: 0, command: Result { () throws(CommandError) in try Command(parsing: Array(text.utf8)) },
            isRetained: isRetained, wasEncrypted: wasEncrypted, digest: CommandDigest(of: text.utf8))
    }

    /// The actions that a service admits.
    private func admitted(by service: CommandService, isRetained: Bool) -> [String] {
        var gate = CommandGate(of: service)
        return Self.payloads.filter {
            let admission = gate.admit(received($0, isRetained: isRetained), Self.allRights, applied: AppliedCommands())
            if case .admitted(let command) = admission { return command.action.rawValue == $0.action }
            return false
        }.map(\.action)
    }

    @Test(arguments: CommandService.allCases)
    func `Only setWaypoints may be retained`(service: CommandService) {
        #expect(admitted(by: service, isRetained: true) == ["setWaypoints"])
    }

    @Test func `Live, the gateway obeys all commands, and the rooms service those about tags`() {
        #expect(admitted(by: .gateway, isRetained: false) == CommandAction.allCases.map(\.rawValue))
        #expect(admitted(by: .rooms, isRetained: false) == ["setWaypoints", "clearWaypoints"])
    }

    @Test func `A retained command that was applied before is not applied again, and a live one is`() {
        var gate = CommandGate(of: .rooms)
        var applied = AppliedCommands()
        _ = applied.remember(received(Self.payloads[2]).digest)
        let admissions = [true, false].map {
            gate.admit(received(Self.payloads[2], isRetained: $0), Self.allRights, applied: applied)
        }
        #expect(admissions.map { $0 == .appliedBefore } == [true, false])
    }

    private typealias Row = (
        action: String, service: CommandService, isRetained: Bool, rights: CommandGate.Rights,
        reason: CommandRefusal.Reason?
    )

    private static func rights(
        obeys: Bool = true, remote: Bool = false, encryption: Bool = false
    ) -> CommandGate.Rights {
        .init(obeysCommands: obeys, allowsRemoteConfiguration: remote, needsEncryption: encryption)
    }

    private static let refusals: [Row] = [
        ("fly", .gateway, false, rights(), .unsupported), ("restart", .gateway, false, rights(), .unsupported),
        ("dump", .rooms, false, rights(), .unsupported), ("setWaypoints", .gateway, false, rights(), .malformed),
        ("dump", .gateway, false, rights(obeys: false), .disabled),
        ("dump", .gateway, false, rights(encryption: true), .unencrypted),
        ("clearWaypoints", .gateway, true, rights(), .retained), ("clearWaypoints", .rooms, true, rights(), .retained),
    ]

    @Test func `Each refusal is counted by its reason`() {
        for row in Self.refusals {
            var gate = CommandGate(of: row.service)
            let admission = gate.admit(
                received((row.action, ""), isRetained: row.isRetained), row.rights, applied: AppliedCommands())
            guard case .refused(let refusal) = admission else {
                Issue.record("\(row) is not refused")
                continue
            }
            #expect(refusal.reason == row.reason)
            let counted = CommandRefusal.Reason.allCases.filter { gate.counts[$0] == 1 }
            #expect(counted == [refusal.reason] && gate.counts.refused == 1)
        }
    }

    @Test func `Only setConfiguration asks for remoteConfiguration (contract)`() {
        #expect(CommandAction.allCases.filter(\.rule.needsRemoteConfiguration) == [.setConfiguration])
    }

    @Test func `setConfiguration needs a right of its own, and an encrypted command comes past the key`() {
        var gate = CommandGate(of: .gateway)
        let settings = received(Self.payloads[4], wasEncrypted: true)
        let admissions = [
            gate.admit(settings, Self.rights(encryption: true), applied: AppliedCommands()),
            gate.admit(settings, Self.rights(remote: true, encryption: true), applied: AppliedCommands()),
        ]
        #expect(admissions.map { if case .admitted = $0 { true } else { false } } == [false, true])
        #expect(gate.counts[.forbidden] == 1)
    }

    @Test func `A reason that did not occur is no member of the JSON`() {
        var gate = CommandGate(of: .gateway)
        gate.countDone()
        _ = gate.refuse(.overload, "")
        #expect(
            gate.counts.json == ["commands": 1, "commandsRefused": 1, "commandsRefusedByReason": ["overload": 1]])
    }

    @Test func `What waits is bounded, and equal queries share an answer`() {
        var gate = CommandGate(of: .rooms)
        let change = received(Self.payloads[3])
        for _ in 0..<CommandQueue.mostWaiting { #expect(gate.receive(change, at: .zero) == nil) }
        #expect(gate.receive(change, at: .zero)?.reason == .overload)
        var queries = CommandGate(of: .gateway)
        for _ in 0..<3 { #expect(queries.receive(received(Self.payloads[5]), at: .zero) == nil) }
        #expect(queries.counts.done == 2)
        #expect(queries.next(at: .zero, regions: 0) != nil && queries.next(at: .zero, regions: 0) == nil)
    }

    // MARK: Digests

    private func digest(_ text: String) -> CommandDigest { CommandDigest(of: text.utf8) }

    @Test func `Each command of one message has a digest of its own, the same in every run`() {
        #expect(digest("a").value == 0xaf63_dc4c_8601_ec8c)
        #expect(digest("a").command(at: 0) != digest("a").command(at: 1))
        #expect(digest("a").command(at: 0) != digest("b").command(at: 0))
    }

    @Test func `A command that comes again and again is remembered, however many others come between`() {
        var applied = AppliedCommands()
        for number in 0..<1000 {
            let changes = [applied.remember(digest("live \(number)")), applied.remember(digest("retained"))]
            #expect(changes == [true, true])
        }
        #expect(applied.contains(digest("retained")))
        #expect(!applied.contains(digest("live 0")))
        #expect(applied.bytes.count <= AppliedCommands.most * 17)
    }

    @Test func `What is remembered already as the latest needs no write`() {
        var applied = AppliedCommands()
        let changes = [applied.remember(digest("a")), applied.remember(digest("a")), applied.remember(nil)]
        #expect(changes == [true, false, false])
    }

    @Test func `What was stored is read again, and what is no digest is left out`() {
        var applied = AppliedCommands()
        for text in ["a", "b"] { _ = applied.remember(digest(text)) }
        #expect(AppliedCommands(bytes: applied.bytes) == applied)
        #expect(AppliedCommands(bytes: Array("x \u{1b} ".utf8) + applied.bytes + [0xff]).contains(digest("a")))
        #expect(AppliedCommands(bytes: []) == AppliedCommands())
    }
}
