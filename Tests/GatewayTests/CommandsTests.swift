import Base
import OwnTracks
import Testing

@testable import Gateway

/// Whether a command is carried out, and what is told of a refusal.
@Suite struct CommandsTests {
    private static func received(_ json: String, isRetained: Bool = false) -> ReceivedCommand {
        let command = Result { () throws(CommandError) in try Command(parsing: Array(json.utf8)) }
        return ReceivedCommand(
            tracker: 0, command: command, isRetained: isRetained, wasEncrypted: false,
            digest: CommandDigest(of: json.utf8))
    }

    private static let status = received(#"{"_type":"cmd","action":"status"}"#)

    @Test func `A command waits for a tick, and then is admitted`() throws {
        let fixture = try PartsFixture(regions: 0)
        var commands = Commands()
        #expect(commands.receive(Self.status, on: "t/cmd", at: .zero).isEmpty)
        let due = try #require(commands.due)
        let taken = commands.next(at: due, regions: 0)
        let next = try #require(taken)
        let admission = commands.admit(next, to: fixture.trackers[0], by: fixture.settings, at: due)
        guard case .admitted(.status) = admission else {
            Issue.record("not admitted")
            return
        }
        #expect(commands.counts.refused == 0)
    }

    @Test func `A refusal is counted, logged, and told with its topic`() throws {
        let fixture = try PartsFixture(regions: 0, "cmd: false")
        var commands = Commands()
        guard
            case .refused(let log) = commands.admit(
                Self.status, to: fixture.trackers[0], by: fixture.settings, at: .zero)
        else {
            Issue.record("not refused")
            return
        }
        #expect(log.compactMap(\.logEntry).map(\.kind) == ["command-refused"])
        #expect(commands.counts[.disabled] == 1)
        #expect(commands.refusals.refusals.map(\.topic) == [fixture.trackers[0].topics.command])
    }

    @Test func `A refusal whose tracker is no more is only counted`() {
        var commands = Commands()
        #expect(commands.refuse(.unavailable, "it ends", on: nil, at: .zero).isEmpty)
        #expect(commands.counts[.unavailable] == 1 && commands.refusals.refusals.isEmpty)
    }
}
