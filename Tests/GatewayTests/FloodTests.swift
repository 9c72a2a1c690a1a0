import Base
import OwnTracks
import Testing

@testable import Gateway

/// Strangers and commands without end, in virtual time: what a busy machine would make of the flood does not matter here.
@Suite struct FloodTests {
    @Test func `A flood of strangers and of commands loses, merges and invents no visit`() throws {
        let street = GatewayHarness.waypoint("Street", rid: "street", suffix: ":2")
        var harness = try GatewayHarness(
            "leaveAfter: 1, waypoints: [\(GatewayHarness.waypoint("Ada", rid: "ada")), \(street)]")
        let commands = [
            #"{"_type":"cmd","action":"dance"}"#, #"{"_type":"cmd","action":"reportLocation"}"#,
            #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[\#(street)]}}"#,
            #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[{"desc":"x"}]}}"#,
        ]
        var events: [String] = []
        // Ada comes for half a second every two seconds. Each tick finds commands that wait, as on a busy machine.
        for millisecond in 0..<8_000 {
            try harness.hear(major: UInt16(millisecond % 2 + 1), minor: UInt16(millisecond / 2 + 100))
            if millisecond % 2000 < 500, millisecond.isMultiple(of: 100) { try harness.hear() }
            harness.command(commands[millisecond % commands.count], ticks: false)
            harness.pass(.milliseconds(1))
            harness.handle(.tick)
            if millisecond.isMultiple(of: 100) { events += try harness.drainEvents() }
        }
        harness.wait(10)
        events += try harness.drainEvents()
        #expect(events.filter { $0.hasSuffix("Ada") } == (0..<4).flatMap { _ in ["enter Ada", "leave Ada"] })
        #expect(events.filter { $0.hasSuffix("Street") } == ["enter Street", "leave Street"])
        #expect(harness.gateway.counters.commands.refused > 0)
    }
}
