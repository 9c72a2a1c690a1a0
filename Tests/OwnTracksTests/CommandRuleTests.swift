import Testing

@testable import OwnTracks

/// Which command a service obeys, and which one may be retained.
@Suite struct CommandRuleTests {
    private static let payloads: [(action: String, members: String)] = [
        ("reportLocation", ""), ("waypoints", ""), ("setWaypoints", #","waypoints":[]"#), ("clearWaypoints", ""),
        ("setConfiguration", #","configuration":{"_type":"configuration"}"#), ("dump", ""), ("status", ""),
    ]

    private func command(_ row: (action: String, members: String)) throws -> Command {
        try Command(parsing: Array(#"{"_type":"cmd","action":"\#(row.action)"\#(row.members)}"#.utf8))
    }

    @Test func `The table knows every action`() {
        #expect(Self.payloads.map(\.action) == Command.actions)
    }

    @Test(arguments: CommandService.allCases)
    func `Only setWaypoints may be retained`(service: CommandService) throws {
        let obeyed = try Self.payloads.filter {
            let command = try command($0)
            #expect(command.action == $0.action)
            return command.admission(to: service, isRetained: true, digest: nil, applied: AppliedCommands())
                == .carriedOut
        }
        #expect(obeyed.map(\.action) == ["setWaypoints"])
    }

    @Test func `Both services refuse a retained command with the same words`() throws {
        let refusals = try CommandService.allCases.map {
            try command(("clearWaypoints", "")).admission(
                to: $0, isRetained: true, digest: nil, applied: AppliedCommands())
        }
        #expect(Set(refusals) == [.refused("the broker had retained it")])
    }

    @Test func `Live, the gateway obeys all commands, and the rooms service those about tags`() throws {
        func obeyed(_ service: CommandService) throws -> [String] {
            try Self.payloads.filter {
                try command($0).admission(to: service, isRetained: false, digest: nil, applied: AppliedCommands())
                    == .carriedOut
            }.map(\.action)
        }
        #expect(try obeyed(.gateway) == Command.actions)
        #expect(try obeyed(.rooms) == ["setWaypoints", "clearWaypoints"])
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
