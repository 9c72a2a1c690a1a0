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
}
