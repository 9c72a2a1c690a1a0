import Base
import Beacon
import Gateway
import Health
import Regions
import Status
import Testing

/// What the gateway makes of the batteries of beacons.
@Suite struct BatteryTests {
    private static func beacon(_ minor: UInt16 = 7) throws -> BeaconID {
        BeaconID(uuid: try #require(BeaconUUID(GatewayHarness.uuid)), major: 1, minor: minor)
    }

    private static func read(_ level: UInt8, minor: UInt16 = 7, in harness: inout GatewayHarness) throws {
        let battery = try #require(BatteryReading(level: level))
        harness.handle(.telemetry(BeaconTelemetry(beacon: try beacon(minor), battery: battery)))
    }

    private static func logged(_ harness: GatewayHarness) -> [String] {
        harness.effects.compactMap {
            guard case .log(let entry) = $0, entry.kind == "battery" else { return nil }
            return "\(entry.priority): \(entry.text)"
        }
    }

    private static func harness() throws -> GatewayHarness {
        var harness = try GatewayHarness()
        harness.setWaypoints(GatewayHarness.waypoint("Keys", rid: "k"))
        return harness
    }

    @Test func `The reading of a beacon of a region is kept, and that of a stranger is not`() throws {
        var harness = try Self.harness()
        try Self.read(80, in: &harness)
        try Self.read(70, minor: 8, in: &harness)
        #expect(try harness.gateway.battery(of: Self.beacon())?.battery.percent == 80)
        #expect(try harness.gateway.battery(of: Self.beacon(8)) == nil)
        #expect(harness.gateway.counters.telemetry == 1)
    }

    @Test func `A battery becomes low at 10 % and is no longer low at 20 %, and each is logged once`() throws {
        var harness = try Self.harness()
        for (level, isLow) in [(11, false), (10, true), (12, true), (19, true), (9, true), (20, false), (11, false)]
            as [(UInt8, Bool)]
        {
            try Self.read(level, in: &harness)
            #expect(try harness.gateway.battery(of: Self.beacon())?.isLow == isLow, "\(level) %")
            #expect(harness.gateway.lowBatteries.map(\.names) == (isLow ? [["Keys"]] : []))
        }
        let name = "(beacon \(GatewayHarness.uuid):1:7)"
        #expect(
            Self.logged(harness) == [
                "warning: the battery of Keys is low: 10 %; replace it \(name)",
                "notice: the battery of Keys is no longer low: 20 % \(name)",
            ])
    }

    @Test func `A byte that may be a battery is shown, warns of nothing, and gives way to a reading that is certain`()
        throws
    {
        var harness = try Self.harness()
        func read(_ level: UInt8, isCertain: Bool) throws {
            let battery = try #require(BatteryReading(level: level))
            harness.handle(
                .telemetry(BeaconTelemetry(beacon: try Self.beacon(), battery: battery, isCertain: isCertain)))
        }
        try read(5, isCertain: false)
        #expect(try harness.gateway.battery(of: Self.beacon())?.battery.percent == 5)
        #expect(harness.gateway.lowBatteries.isEmpty && Self.logged(harness).isEmpty)
        try read(9, isCertain: true)
        #expect(harness.gateway.lowBatteries.count == 1)
        try read(50, isCertain: false)
        #expect(try harness.gateway.battery(of: Self.beacon())?.battery.percent == 9)
        #expect(harness.gateway.lowBatteries.count == 1)
    }

    @Test(arguments: ["A9", "00", "42"])
    func `A region may name the UUID with any battery in it`(end: String) throws {
        let stem = GatewayHarness.uuid.dropLast(2)
        var harness = try GatewayHarness("battery: {uuid: \"\(stem)17\", uuidMask: \"0xFF\"}")
        harness.setWaypoints(#"{"_type":"waypoint","tst":1,"rid":"k","desc":"Keys:\#(stem)\#(end):1:7"}"#)
        let uuid = try #require(BeaconUUID("\(stem)00"))
        harness.handle(
            .sighting(
                Sighting(
                    beacon: BeaconID(uuid: uuid, major: 1, minor: 7), measuredPower: MeasuredPower(dBm: -59),
                    rssi: RSSI(reported: -60), receiver: Receiver(index: 0))))
        #expect(try harness.drainEvents() == ["enter Keys"])
    }

    @Test func `The explanation of a leave tells of a battery that was low`() throws {
        var harness = try Self.harness()
        try harness.hear()
        try Self.read(8, in: &harness)
        func explanation() -> String? {
            GatewayInsight(of: harness.gateway).trackerStates(hearings: [:], at: harness.now).first?
                .regions.first?
                .explanation
        }
        #expect(explanation()?.contains("battery") == false, "it is inside")
        harness.wait(70)
        let sentence = " Its battery was low at the last reading, 70 s ago: 8 %."
        #expect(explanation()?.hasSuffix(sentence) == true)
        let logged = harness.effects.compactMap { effect -> String? in
            guard case .log(let entry) = effect, entry.kind == "explanation" else { return nil }
            return entry.text
        }
        #expect(logged.last?.contains("Its battery was low at the last reading") == true)
    }

    @Test func `A region shows the battery of the beacon that it shows`() throws {
        var harness = try Self.harness()
        func battery() -> BatteryState? {
            GatewayInsight(of: harness.gateway).trackerStates(hearings: [:], at: harness.now).first?
                .regions.first?.battery
        }
        #expect(battery() == nil)
        try harness.hear()
        try Self.read(55, in: &harness)
        #expect(battery()?.battery.percent == 55)
        harness.wait(70)
        #expect(battery()?.battery.percent == 55, "after the leave, too")
    }

    /// The stored low batteries.
    private static func stored(_ harness: GatewayHarness) -> [UInt8]? {
        harness.effects.compactMap { effect -> [UInt8]? in
            guard case .value(Gateway.lowBatteriesKey, let bytes) = effect else { return nil }
            return bytes
        }.last
    }

    /// A gateway that starts with these stored low batteries, ten days after the other's time zero.
    private static func restarted(_ low: [UInt8]?, isClockKnown: Bool = true) throws -> GatewayHarness {
        let before = try harness()
        var harness = before
        harness.gateway = Gateway(
            configuration: before.gateway.configuration,
            wallClock: WallClock(
                epochOffset: (GatewayHarness.epoch + 864_000) * 1_000_000_000, isKnown: isClockKnown),
            explainsTransitions: true)
        harness.handle(
            .start(
                StoredState(
                    configuration: before.gateway.configuration, regions: before.gateway.trackers.map(\.regions),
                    lowBatteries: low)))
        return harness
    }

    @Test func `A low battery is known after a restart, with the time of its reading if the clock is known`() throws {
        var harness = try Self.harness()
        try Self.read(80, in: &harness)
        harness.handle(.checkpoint)
        #expect(Self.stored(harness) == nil, "a good battery is not stored")
        try Self.read(6, in: &harness)
        harness.handle(.checkpoint)
        let low = try #require(Self.stored(harness))
        let later = try Self.restarted(low)
        #expect(later.gateway.lowBatteries.map(\.names) == [["Keys"]])
        let region = GatewayInsight(of: later.gateway).trackerStates(hearings: [:], at: later.now).first?
            .regions.first
        #expect(region?.battery?.battery.percent == 6)
        let sentence = " Its battery was low at the last reading"
        #expect(
            region?.explanation == "No beacon of it was heard since the start.\(sentence), 10 days ago: 6 %.")
        let timeless = try Self.restarted(low, isClockKnown: false)
        #expect(
            GatewayInsight(of: timeless.gateway).trackerStates(hearings: [:], at: timeless.now).first?
                .regions.first?
                .explanation.hasSuffix("\(sentence): 6 %.") == true)
    }

    @Test func `The time of a low battery outlives starts before the clock is set, and is known when it is set`() throws
    {
        var harness = try Self.harness()
        try Self.read(6, in: &harness)
        harness.handle(.stopping)
        var low = try #require(Self.stored(harness))
        for _ in 1...2 {
            var timeless = try Self.restarted(low, isClockKnown: false)
            timeless.handle(.stopping)
            low = Self.stored(timeless) ?? low
        }
        var later = try Self.restarted(low, isClockKnown: false)
        #expect(later.gateway.lowBatteries.first?.state.instant == nil)
        later.step(by: 0)
        let read = try #require(later.gateway.lowBatteries.first?.state.instant)
        #expect(later.gateway.wallClock.epochSeconds(at: read) == GatewayHarness.epoch)
    }

    @Test func `A battery that was replaced is not low after a restart`() throws {
        var harness = try Self.harness()
        try Self.read(6, in: &harness)
        harness.handle(.checkpoint)
        try Self.read(100, in: &harness)
        harness.handle(.stopping)
        #expect(try Self.restarted(Self.stored(harness)).gateway.lowBatteries.isEmpty)
    }

    @Test func `Low batteries are stored again only if they changed`() throws {
        var harness = try Self.harness()
        try Self.read(6, in: &harness)
        func writes() -> Int {
            harness.effects.count { if case .value(Gateway.lowBatteriesKey, _) = $0 { true } else { false } }
        }
        harness.handle(.checkpoint)
        #expect(writes() == 1)
        harness.handle(.checkpoint)
        #expect(writes() == 1)
        harness.pass(5)
        try Self.read(6, in: &harness)
        #expect(writes() == 1)
        harness.handle(.checkpoint)
        #expect(writes() == 2)
    }

    @Test func `A battery that is low and good by turns is stored with the next checkpoint, and when the service ends`()
        throws
    {
        var harness = try Self.harness()
        for _ in 1...50 {
            try Self.read(5, in: &harness)
            try Self.read(25, in: &harness)
        }
        try Self.read(5, in: &harness)
        #expect(Self.stored(harness) == nil)
        harness.handle(.checkpoint)
        #expect(try Self.restarted(Self.stored(harness)).gateway.lowBatteries.map(\.names) == [["Keys"]])
        try Self.read(25, in: &harness)
        harness.handle(.stopping)
        #expect(try Self.restarted(Self.stored(harness)).gateway.lowBatteries.isEmpty)
    }

    @Test func `Low batteries are listed with the emptiest first, and those of one level by their numbers`() throws {
        var harness = try GatewayHarness()
        harness.setWaypoints(GatewayHarness.waypoint("House", rid: "h", suffix: ""))
        for (minor, level) in [(10, 7), (9, 7), (3, 8), (200, 2)] as [(UInt16, UInt8)] {
            try Self.read(level, minor: minor, in: &harness)
        }
        #expect(harness.gateway.lowBatteries.map(\.beacon.minor) == [200, 9, 10, 3])
    }

    @Test(arguments: ["", "null", "[1]", #"[{"uuid":"x"}]"#, #"[{"uuid":"CA271EAE-5FA8-4E80-8F08-2A302A95A959"}]"#])
    func `Stored bytes that cannot be read are no low battery`(text: String) throws {
        #expect(try Self.restarted(Array(text.utf8)).gateway.lowBatteries.isEmpty)
    }

    @Test func `A region that names masked bits means the tag all the same`() throws {
        var harness = try GatewayHarness("battery: {uuid: '\(GatewayHarness.uuid)', minorMask: '0x00FF'}")
        harness.setWaypoints(GatewayHarness.waypoint("Keys", rid: "k", suffix: ":1:356"))
        // 356 is 0x0164. The decoder clears 0x64.
        try harness.hear(minor: 0x0100)
        #expect(try harness.drainEvents() == ["enter Keys"])
    }

    @Test func `A battery is forgotten with the last region of its beacon`() throws {
        var harness = try Self.harness()
        try Self.read(5, in: &harness)
        harness.change([.remove(rid: "k")])
        #expect(try harness.gateway.battery(of: Self.beacon()) == nil)
        #expect(harness.gateway.lowBatteries.isEmpty)
    }

    @Test func `Beacons that a stranger invents take no more room than the bound, the oldest first`() throws {
        var harness = try GatewayHarness()
        harness.setWaypoints(GatewayHarness.waypoint("House", rid: "h", suffix: ""))
        for minor in 1...600 as ClosedRange<UInt16> {
            harness.pass(1)
            try Self.read(5, minor: minor, in: &harness)
        }
        #expect(harness.gateway.lowBatteries.count == 512)
        #expect(try harness.gateway.battery(of: Self.beacon(88)) == nil)
        #expect(try harness.gateway.battery(of: Self.beacon(89)) != nil)
    }
}

/// What the health check says of batteries.
@Suite struct BatteryFindingTests {
    private static func finding(_ count: Int) throws -> Finding? {
        var harness = try GatewayHarness()
        harness.setWaypoints(
            (1...5).map { GatewayHarness.waypoint("Tag \($0)", rid: "r\($0)", suffix: ":1:\($0)") }
                .joined(separator: ","))
        let uuid = try #require(BeaconUUID(GatewayHarness.uuid))
        for number in 1...max(1, count) {
            let battery = try #require(BatteryReading(level: count == 0 ? 90 : UInt8(number)))
            harness.handle(
                .telemetry(
                    BeaconTelemetry(beacon: BeaconID(uuid: uuid, major: 1, minor: UInt16(number)), battery: battery)))
        }
        var snapshot = StatusSnapshot(
            now: harness.now, wallClock: harness.gateway.wallClock, version: "1", device: "hall", startedAt: .zero)
        snapshot.lowBatteries = harness.gateway.lowBatteries.map {
            .init(beacon: $0.beacon, names: $0.names, state: $0.state)
        }
        return snapshot.liveFindings.first { $0.subject == "battery" }
    }

    @Test(
        arguments: [
            (0, nil), (1, "low batteries: Tag 1 1 %"), (3, "low batteries: Tag 1 1 %; Tag 2 2 %; Tag 3 3 %"),
            (5, "low batteries: Tag 1 1 %; Tag 2 2 %; Tag 3 3 %; and 2 more"),
        ] as [(Int, String?)])
    func namesTheEmptiest(count: Int, text: String?) throws {
        let finding = try Self.finding(count)
        #expect(finding?.text == text)
        #expect(finding?.level == (text == nil ? nil : .warning))
        #expect(finding?.remedy.isEmpty == (text == nil ? nil : false))
    }
}
