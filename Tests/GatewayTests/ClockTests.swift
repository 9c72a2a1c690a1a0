import Base
import JSON
import Testing

@testable import Gateway

/// The wall clock stamps messages and decides nothing.
@Suite struct ClockTests {
    private static let hall = "waypoints: [\(GatewayHarness.waypoint("Hall", rid: "h"))]"
    private static let year: Int64 = 365 * 86_400

    /// Seconds by which the wall clock jumps.
    @Test(arguments: [10 * year, -10 * year, -GatewayHarness.epoch, 1, -1, 3600])
    func `A clock that jumps in the middle of a countdown moves no leave`(jump: Int64) throws {
        var harness = try GatewayHarness(Self.hall)
        try harness.hear()
        harness.wait(30)
        #expect(try harness.drainEvents() == ["enter Hall"])
        harness.step(by: jump)
        harness.wait(29)
        #expect(try harness.drainEvents().isEmpty)
        harness.wait(2)
        let transition = try #require(harness.drainMessages().first { $0.kind == .transition })
        let json = try JSONValue(parsing: transition.payload)
        #expect(json["event"] == "leave")
        #expect(json["tst"] == .integer(GatewayHarness.epoch + jump + 60))
    }

    @Test(arguments: [10 * year, -10 * year])
    func `A clock that jumps while a beacon enters and leaves all the time adds no transition`(jump: Int64) throws {
        var harness = try GatewayHarness(Self.hall)
        for round in 0..<10 {
            try harness.hear()
            harness.wait(59)
            harness.step(by: round.isMultiple(of: 2) ? jump : -jump)
            try harness.hear()
            harness.wait(61)
        }
        #expect(
            try harness.drainEvents() == [[String]](repeating: ["enter Hall", "leave Hall"], count: 10).flatMap(\.self))
    }

    @Test func `From 1970 to now, what happened before waits for its time and what comes after has it`() throws {
        var harness = try GatewayHarness(Self.hall, isClockKnown: false)
        harness.wait(10)
        try harness.hear()
        harness.wait(30)
        let enter = try #require(harness.drainMessages().first { $0.kind == .transition })
        #expect((enter.stamp, enter.happened) == (.provisional, MonotonicInstant(nanoseconds: 10_000_000_000)))
        harness.handle(.wallClock(WallClock(epochOffset: GatewayHarness.epoch * 1_000_000_000, isKnown: true)))
        harness.wait(31)
        let leave = try #require(harness.drainMessages().first { $0.kind == .transition })
        #expect(leave.stamp == .exact)
        #expect(try JSONValue(parsing: leave.payload)["tst"] == .integer(GatewayHarness.epoch + 70))
    }

    @Test func `An enter that is repeated before the clock is known bears its own time`() throws {
        var harness = try GatewayHarness(Self.hall + ", reannounce: true", isClockKnown: false)
        harness.wait(10)
        try harness.hear()
        harness.handle(.brokerConnected(isNew: true))
        _ = harness.drainMessages()
        harness.wait(30)
        harness.handle(.homeAssistantStarted)
        let again = try #require(harness.drainMessages().first { $0.kind == .transition })
        #expect((again.stamp, again.happened) == (.provisional, MonotonicInstant(nanoseconds: 10_000_000_000)))
    }

    @Test(arguments: ["waypoints", "dump", "status"])
    func `What bears no time of the clock does not wait for it`(action: String) throws {
        var harness = try GatewayHarness(Self.hall, isClockKnown: false)
        harness.command(#"{"_type":"cmd","action":"\#(action)"}"#)
        let answer = try #require(harness.drainMessages().first { $0.topic.hasSuffix("/\(action)") })
        #expect(answer.stamp == .exact)
    }

    @Test func `A region that is published before the clock is known keeps its own time stamp`() throws {
        var harness = try GatewayHarness("publishWaypoints: true", isClockKnown: false)
        harness.setWaypoints(GatewayHarness.waypoint("Hall", rid: "h"))
        let told = try #require(harness.drainMessages().first { $0.topic.hasSuffix("/waypoint") })
        #expect(told.stamp == .exact)
        #expect(try JSONValue(parsing: told.payload)["tst"] == 1_600_000_000)
    }
}
