import Base
import JSON
import OwnTracks
import Regions
import Status
import Testing

@testable import Gateway

@Suite struct RestartTests {
    private static let hall = "waypoints: [\(GatewayHarness.waypoint("Hall", rid: "h"))]"

    /// With Hall occupied since second 100 and the beacon heard until 130.
    private func occupied(_ json: String = hall) throws -> GatewayHarness {
        var harness = try GatewayHarness(json)
        harness.wait(100)
        for _ in 0...3 {
            try harness.hear()
            harness.wait(10)
        }
        #expect(try harness.drainEvents() == ["enter Hall"])
        return harness
    }

    @Test(arguments: [(1, true), (100_000, true), (1, false), (100_000, false)])
    func `A beacon that stayed does not enter again`(seconds: Int, isSameBoot: Bool) throws {
        var harness = try occupied()
        try harness.restart(Self.hall, after: seconds, isSameBoot: isSameBoot)
        for _ in 0..<20 {
            try harness.hear()
            harness.wait(10)
        }
        #expect(try harness.drainEvents().isEmpty)
    }

    @Test(arguments: [true, false])
    func `One that left while the program was down leaves after leaveAfter of listening`(isSameBoot: Bool) throws {
        var harness = try occupied()
        // Heard last 10 s before the end: 50 s of listening are left.
        try harness.restart(Self.hall, after: 5000, isSameBoot: isSameBoot)
        harness.wait(49)
        #expect(try harness.drainEvents().isEmpty)
        harness.wait(2)
        #expect(try harness.drainEvents() == ["leave Hall"])
        harness.wait(1000)
        #expect(try harness.drainEvents().isEmpty)
    }

    @Test func `One that is seen at the first start enters`() throws {
        var harness = try GatewayHarness(Self.hall)
        try harness.hear()
        #expect(try harness.drainEvents() == ["enter Hall"])
    }

    @Test(arguments: [true, false])
    func `The start of an occupancy is known after a restart`(isSameBoot: Bool) throws {
        var harness = try occupied()
        try harness.restart(Self.hall, after: 5000, isSameBoot: isSameBoot)
        harness.handle(.brokerConnected(isNew: true))
        let state = try #require(harness.drainMessages().first { $0.kind == .state && $0.topic.hasSuffix("/region/h") })
        let json = try JSONValue(parsing: state.payload)
        #expect(json["state"] == "inside")
        #expect(json["since"] == .integer(GatewayHarness.epoch + 100))
        #expect(harness.gateway.trackers[0].occupancy["h"]?.since.nanoseconds ?? 0 < harness.now.nanoseconds)
    }

    @Test(arguments: [true, false])
    func `Since when a region is empty stays the same at a new session, a reload and a restart`(isSameBoot: Bool) throws
    {
        var harness = try occupied()
        harness.wait(1000)
        #expect(try harness.drainEvents() == ["leave Hall"])
        func since(after input: Gateway.Input) throws -> JSONValue? {
            harness.handle(input)
            let state = try #require(harness.drainMessages().last { $0.topic.hasSuffix("/region/h") })
            let json = try JSONValue(parsing: state.payload)
            #expect(json["state"] == "outside")
            return json["since"]
        }
        let left = JSONValue.integer(GatewayHarness.epoch + 190)
        #expect(try since(after: .brokerConnected(isNew: true)) == left)
        #expect(try since(after: .configuration(harness.gateway.configuration)) == left)
        // After a crash, which leaves the change beside the state before the leave.
        #expect(!harness.storedChanges.isEmpty)
        let kept = try #require(KeptPresence(bytes: harness.storedWhole, changes: harness.storedChanges))
        let regions = harness.gateway.trackers.map(\.regions)
        harness.begin(with: kept, regions: regions, isSameBoot: isSameBoot)
        #expect(try since(after: .brokerConnected(isNew: true)) == left)
        for _ in 1...2 {
            try harness.restart(Self.hall, after: 500, isSameBoot: isSameBoot)
            #expect(try since(after: .homeAssistantStarted) == left)
        }
    }

    @Test(arguments: [true, false])
    func `Since when a region is empty is shown after a restart, too`(isSameBoot: Bool) throws {
        var harness = try occupied()
        harness.wait(1000)
        try harness.restart(Self.hall, after: 500, isSameBoot: isSameBoot)
        let tracker = try #require(
            GatewayInsight(of: harness.gateway).trackerStates(hearings: [:], at: harness.now).first)
        let since = try #require(tracker.regions.first?.since)
        #expect(harness.gateway.wallClock.epochSeconds(at: since) == GatewayHarness.epoch + 190)
    }

    @Test func `A region that was removed and is set again is empty since then`() throws {
        var harness = try occupied()
        harness.wait(1000)
        let region = try #require(harness.gateway.trackers[0].regions[rid: "h"])
        harness.change([.remove(rid: "h")])
        harness.wait(100)
        _ = harness.drainMessages()
        harness.change([.set(region, isRIDDerived: false)])
        let state = try #require(harness.drainMessages().last { $0.topic.hasSuffix("/region/h") })
        #expect(try JSONValue(parsing: state.payload)["since"] == .integer(GatewayHarness.epoch + 1240))
    }

    @Test func `After a restart of the machine, since is right as soon as it starts, before its clock is set`() throws {
        var harness = try occupied()
        try harness.restart(Self.hall, after: 5000, isSameBoot: false, isClockKnown: false)
        harness.handle(.brokerConnected(isNew: true))
        let state = try #require(harness.drainMessages().first { $0.kind == .state && $0.topic.hasSuffix("/region/h") })
        #expect(try JSONValue(parsing: state.payload)["since"] == .integer(GatewayHarness.epoch + 100))
        #expect(state.stamp == .exact, "the time is known, and must not be made anew")
    }

    @Test func `A time from before the boot is exact from the moment on at which the clock is known`() throws {
        var harness = try occupied()
        try harness.restart(Self.hall, after: 5000, isSameBoot: false, isClockKnown: false)
        try harness.restart(Self.hall, after: 3, isClockKnown: false)
        let begin = try #require(harness.gateway.trackers[0].occupancy["h"])
        #expect(begin.timestamp(by: harness.gateway.wallClock) == GatewayHarness.epoch + 100)
        harness.handle(
            .wallClock(
                WallClock(
                    epochNanoseconds: (GatewayHarness.epoch + 6000) * 1_000_000_000, at: harness.now, isKnown: true)))
        for _ in 1...2 {
            let since = try #require(harness.gateway.trackers[0].occupancy["h"]).since
            #expect(harness.gateway.wallClock.epochSeconds(at: since) == GatewayHarness.epoch + 100)
            try harness.restart(Self.hall, after: 3)
        }
    }

    @Test func `When the clock is set, the time of an earlier leave is stored, though nothing is near`() throws {
        var harness = try GatewayHarness(Self.hall, isClockKnown: false)
        try harness.hear()
        harness.wait(100)
        harness.handle(.checkpoint)
        harness.step(by: 1000)
        _ = harness.drainMessages()
        harness.handle(.checkpoint)
        let checkpoints = harness.effects.compactMap { if case .checkpoint(let bytes) = $0 { bytes } else { nil } }
        _ = harness.drainMessages()
        harness.handle(.checkpoint)
        #expect(harness.effects.isEmpty, "once")
        // A power cut.
        let stored = try #require(checkpoints.last)
        let kept = try #require(KeptPresence(bytes: stored))
        harness.begin(with: kept, regions: harness.gateway.trackers.map(\.regions), isSameBoot: false)
        harness.handle(.brokerConnected(isNew: true))
        let state = try #require(harness.drainMessages().first { $0.topic.hasSuffix("/region/h") })
        #expect(try JSONValue(parsing: state.payload)["since"] == .integer(GatewayHarness.epoch + 1060))
    }

    @Test func `State that was told before the clock was set is dated by the enter, not by the telling`() throws {
        var harness = try GatewayHarness(Self.hall, isClockKnown: false)
        harness.wait(100)
        try harness.hear()
        harness.wait(20)
        _ = harness.drainMessages()
        harness.handle(.brokerConnected(isNew: true))
        let state = try #require(harness.drainMessages().first { $0.kind == .state && $0.topic.hasSuffix("/region/h") })
        #expect((state.stamp, state.happened) == (.provisional, MonotonicInstant(nanoseconds: 100_000_000_000)))
    }

    @Test func `Who is inside a region that the configuration takes elsewhere leaves it at the start`() throws {
        var harness = try occupied()
        let moved = "waypoints: [\(GatewayHarness.waypoint("Attic", rid: "h", suffix: ":9:9"))]"
        try harness.restart(moved, after: 5)
        #expect(try harness.drainEvents() == ["leave Hall"])
        try harness.hear()
        #expect(try harness.drainEvents().isEmpty)
    }

    @Test func `Trackers are known by their topic, not by their position`() throws {
        var harness = try occupied()
        let regions = harness.gateway.trackers[0].regions
        let json = """
            pubTopicBase: "owntracks/new/first", trackers: [{tid: "jh", pubTopicBase: "owntracks/jane/hall"}]
            """
        try harness.restart(json, after: 5, regions: [RegionSet(), regions])
        #expect(harness.gateway.trackers.map(\.topics.base) == ["owntracks/new/first", "owntracks/jane/hall"])
        try harness.hear()
        #expect(try harness.drainEvents().isEmpty)
        #expect(harness.gateway.trackers[1].occupancy.keys.map(\.text) == ["h"])
        harness.wait(100)
        let transitions = harness.drainMessages().filter { $0.kind == .transition }
        #expect(transitions.map(\.topic) == ["owntracks/jane/hall/event"])
    }

    @Test func `What was kept of a tracker that is no more is forgotten without a word`() throws {
        var harness = try occupied()
        try harness.restart("pubTopicBase: \"owntracks/new/first\"", after: 5, regions: [RegionSet()])
        harness.wait(1000)
        #expect(try harness.drainEvents().isEmpty)
    }

    @Test func `The machine's sleep is no silence`() throws {
        var harness = try occupied()
        harness.sleep(100_000)
        harness.wait(49)
        #expect(try harness.drainEvents().isEmpty)
        harness.wait(2)
        #expect(try harness.drainEvents() == ["leave Hall"])
    }

    @Test func `Whatever happened to the bytes, a gateway can go on from them`() throws {
        let original = try occupied().gateway.keptPresence(at: MonotonicInstant(nanoseconds: 140_000_000_000)).bytes
        var random = SystemRandomNumberGenerator()
        var read = 0
        for _ in 0..<4000 {
            var bytes = original
            let place = Int.random(in: 0..<bytes.count, using: &random)
            bytes[place] = [0, 0xff, 0x7f, UInt8.random(in: .min ... .max)].randomElement() ?? 0
            guard let kept = KeptPresence(bytes: bytes) else { continue }
            read += 1
            #expect(KeptPresence(bytes: kept.bytes) == kept)
            var harness = try GatewayHarness(Self.hall)
            let regions = harness.gateway.trackers.map(\.regions)
            harness.begin(with: kept, regions: regions, isSameBoot: Bool.random())
            try harness.hear()
            harness.handle(.brokerConnected(isNew: true))
            harness.wait(100_000)
        }
        #expect(read > 100)
        for count in 0..<original.count { #expect(KeptPresence(bytes: Array(original[..<count])) == nil) }
    }
}
