import Base
import Beacon
import Gateway
import Health
import JSON
import OwnTracks
import Regions
import Status
import Testing

/// What the gateway tells of itself to those who watch.
@Suite struct StatusTests {
    private func region(_ harness: GatewayHarness, _ index: Int = 0) throws -> StatusSnapshot.RegionStatus {
        try #require(
            GatewayInsight(of: harness.gateway).trackerStates(hearings: [:], at: harness.now).first?
                .regions[index])
    }

    @Test func `A region tells who is inside, since when, and when it will be left`() throws {
        var harness = try GatewayHarness()
        harness.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        #expect(try !region(harness).isInside)
        try harness.hear()
        harness.wait(20)
        let region = try region(harness)
        #expect(region.isInside && region.name == "Kitchen" && region.since == .zero)
        #expect(region.leaveDeadline == MonotonicInstant.zero.advanced(by: .seconds(60)))
    }

    @Test func `The explanation says in a sentence why a region is as it is`() throws {
        var harness = try GatewayHarness()
        harness.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        #expect(try region(harness).explanation == "No beacon of it was heard since the start.")
        try harness.hear()
        harness.wait(20)
        let beacon = "Beacon \(GatewayHarness.uuid):1:7"
        #expect(
            try region(harness).explanation
                == "\(beacon) was heard 20 s ago (at -60 dBm); it leaves in 40 s if it is not heard again.")
        harness.handle(.listening(Receiver(index: 0), false))
        #expect(try region(harness).explanation.hasSuffix("No adapter listens now, so no beacon leaves."))
        harness.handle(.listening(Receiver(index: 0), true))
        harness.wait(41)
        #expect(
            try region(harness).explanation
                == "\(beacon) was heard 61 s ago (at -60 dBm); after 60 s of silence it counts as gone, "
                + "as leaveAfter says.")
    }

    @Test func `A beacon that is heard too faintly is said to be`() throws {
        var harness = try GatewayHarness("enterRSSI: -70")
        harness.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        try harness.hear(rssi: -85)
        #expect(try region(harness).explanation.hasSuffix("it is not near enough, -70 dBm are required."))
    }

    @Test func `Of two beacons in a region the one that leaves last decides`() throws {
        var harness = try GatewayHarness()
        harness.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k", suffix: ":1"))
        try harness.hear(minor: 1)
        harness.wait(30)
        try harness.hear(minor: 2)
        let region = try region(harness)
        #expect(region.leaveDeadline == harness.now.advanced(by: .seconds(60)))
        #expect(region.explanation.contains(":1:2"))
    }

    @Test func `Of what is heard of a region the strongest counts, and the latest if all is old`() throws {
        var harness = try GatewayHarness()
        harness.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k", suffix: ":1"))
        let uuid = try #require(BeaconUUID(GatewayHarness.uuid))
        func state(_ minor: UInt16, _ dBm: Int8, heard seconds: Int) -> StatusSnapshot.BeaconState {
            StatusSnapshot.BeaconState(
                id: BeaconID(uuid: uuid, major: 1, minor: minor), measuredPower: MeasuredPower(dBm: -59),
                rssi: RSSI(reported: dBm), lastHeard: .zero.advanced(by: .seconds(seconds)))
        }
        let states = [state(1, -80, heard: 99), state(2, -60, heard: 95), state(3, -40, heard: 10)]
        let now = GatewayInsight(of: harness.gateway).hearings(of: states, at: .zero.advanced(by: .seconds(100)))
        #expect(now.values.map(\.beacon.minor) == [2])
        let later = GatewayInsight(of: harness.gateway).hearings(of: states, at: .zero.advanced(by: .seconds(200)))
        #expect(later.values.map(\.beacon.minor) == [1])
    }

    @Test func `Enters and leaves are counted`() throws {
        var harness = try GatewayHarness()
        harness.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        try harness.hear()
        #expect((harness.gateway.counters.enters, harness.gateway.counters.leaves) == (1, 0))
        harness.wait(61)
        #expect((harness.gateway.counters.enters, harness.gateway.counters.leaves) == (1, 1))
    }

    @Test func `Leaves are counted by their reason`() throws {
        var harness = try GatewayHarness()
        harness.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k"))
        try harness.hear()
        harness.wait(61)
        try harness.hear()
        harness.setWaypoints(GatewayHarness.waypoint("Kitchen", rid: "k", more: #","lat":100,"lon":500"#))
        let counts = harness.gateway.counters.namedLeaves.filter { $0.count > 0 }.map { "\($0.reason) \($0.count)" }
        #expect(counts == ["silence 1", "region 1"])
    }

    @Test func `The JSON has a member for each property of a region and an adapter`() throws {
        let adapter = StatusSnapshot.Adapter(name: "hci0", isListening: true)
        let region = StatusSnapshot.RegionStatus(rid: "k", name: "Kitchen", description: "", isInside: true)
        var snapshot = StatusSnapshot(
            now: .zero, wallClock: WallClock(epochOffset: 0, isKnown: true), version: "1", device: "hall",
            startedAt: .zero)
        snapshot.scanner.adapters = [adapter]
        snapshot.trackers = [.init(tid: "t", topic: "owntracks/jane/hall", device: "hall", regions: [region])]
        let json = snapshot.json
        let shown = [
            json["scanner"]?["adapters"]?.array?.first, json["trackers"]?.array?.first?["regions"]?.array?.first,
        ].map { $0?.object?.count }
        let properties: [Any] = [adapter, region]
        #expect(shown == properties.map { Mirror(reflecting: $0).children.count })
    }

    @Test func `A past transition is shown with its tracker, its region and its beacon`() throws {
        let beacon = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
        var snapshot = StatusSnapshot(
            now: .zero, wallClock: WallClock(epochOffset: 0, isKnown: true), version: "1", device: "hall",
            startedAt: .zero)
        snapshot.transitions = [
            PastTransition(
                tracker: "owntracks/jane/hall", trackerID: "t", rid: "k", name: "Kitchen", event: .leave,
                beacon: beacon, timestamp: 0, stamp: .exact, happened: .zero)
        ]
        let shown = try #require(snapshot.json["transitions"]?.array?.first?.object)
        #expect(shown.keys.sorted() == ["ago", "beacon", "event", "name", "rid", "tid", "tracker"])
        #expect(["tid", "rid", "name", "event"].map { shown[$0]?.string } == ["t", "k", "Kitchen", "leave"])
        #expect(shown["beacon"]?.string == "\(beacon)")
    }

    @Test func `A scan duty that the scanner did not set is a finding, with its cure`() {
        var snapshot = StatusSnapshot(
            now: .zero, wallClock: WallClock(epochOffset: 0, isKnown: true), version: "1", device: "hall",
            startedAt: .zero)
        /// - Returns: level, text and remedy of the adapter's finding.
        func finding(_ scanner: String, _ setting: Double?, _ duty: Double?) -> [String] {
            var adapter = StatusSnapshot.Adapter(name: "hci0", isListening: true)
            adapter.duty = duty
            snapshot.scanner = .init(name: scanner, adapters: [adapter], scanDuty: setting)
            let finding = snapshot.liveFindings.first { $0.subject == "adapter" }
            return [finding?.level.rawValue, finding?.text, finding?.remedy].map { $0 ?? "" }
        }
        #expect(finding("bluez", nil, nil) == ["ok", "hci0 listens", ""])
        #expect(finding("mgmt", 0.25, 0.25) == ["ok", "hci0 listens 25 % of the time, as scanDuty says", ""])
        #expect(
            finding("bluez", 0.25, nil) == [
                "warning", "scanDuty 0.25 has no effect on hci0: 'bluez' did not set it",
                "use scanner \"mgmt\" or \"hci\", or set scanDuty to \"auto\"",
            ])
    }

    @Test func `Why no adapter can be used is the finding, unless one listens`() {
        var snapshot = StatusSnapshot(
            now: .zero, wallClock: WallClock(epochOffset: 0, isKnown: true), version: "1", device: "hall",
            startedAt: .zero)
        func findings() -> [String] {
            snapshot.liveFindings.filter { $0.subject == "adapter" }.flatMap {
                [$0.level.rawValue, $0.text, $0.remedy]
            }
        }
        snapshot.scanner.problem = .init(text: "hci0 is used by another program", remedy: "end it")
        #expect(findings() == ["error", "hci0 is used by another program", "end it"])
        #expect(snapshot.json["scanner"]?["problem"]?["text"] == .string("hci0 is used by another program"))
        #expect(StatusSnapshot(reading: snapshot.json).scanner.problem == snapshot.scanner.problem)
        snapshot.scanner.adapters = [.init(name: "hci0", isListening: false)]
        #expect(findings() == ["error", "hci0 is used by another program", "end it"])
        snapshot.scanner.adapters.append(.init(name: "hci1", isListening: true))
        #expect(findings().contains("hci1 listens"))
        snapshot.scanner.problem = nil
        #expect(snapshot.json["scanner"]?["problem"] == .null)
    }

    @Test func `A controller that refuses is a finding with its reason, and a pause of a moment is none`() {
        var snapshot = StatusSnapshot(
            now: .zero, wallClock: WallClock(epochOffset: 0, isKnown: true), version: "1", device: "hall",
            startedAt: .zero)
        var adapter = StatusSnapshot.Adapter(name: "hci0", isListening: false)
        adapter.isPausing = true
        snapshot.scanner = .init(name: "mgmt", adapters: [adapter])
        #expect(snapshot.liveFindings.first { $0.subject == "adapter" }?.level == .ok)
        adapter.isPausing = false
        adapter.trouble = "the controller refuses to scan: Command Disallowed (0x0c)"
        snapshot.scanner.adapters = [adapter]
        let finding = snapshot.liveFindings.first { $0.subject == "adapter" }
        #expect(finding?.level == .error)
        #expect(finding?.text == "hci0 does not listen: the controller refuses to scan: Command Disallowed (0x0c)")
        #expect(snapshot.json["scanner"]?["adapters"]?.array?.first?["trouble"]?.string == adapter.trouble)
    }

    @Test func `The share of another program's scan is not taken for that of scanDuty`() {
        var snapshot = StatusSnapshot(
            now: .zero, wallClock: WallClock(epochOffset: 0, isKnown: true), version: "1", device: "hall",
            startedAt: .zero)
        var adapter = StatusSnapshot.Adapter(name: "hci0", isListening: true)
        adapter.duty = 1
        snapshot.scanner = .init(name: "mgmt", adapters: [adapter], scanDuty: 0.25)
        let finding = snapshot.liveFindings.first { $0.subject == "adapter" }
        #expect(finding?.text == "hci0 listens 100 % of the time during another program's scan")
    }

    @Test func `Findings put the worst first, each with its cure`() {
        var snapshot = StatusSnapshot(
            now: .zero, wallClock: WallClock(epochOffset: 0, isKnown: false), version: "1", device: "hall",
            startedAt: .zero)
        snapshot.brokers = [.init(name: "localhost:1883", phase: .disconnected, reason: "refused")]
        let findings = snapshot.liveFindings
        #expect(findings.map(\.subject) == ["adapter", "broker", "clock", "regions", "disk", "queue"])
        #expect(findings.map(\.level) == [.error, .error, .warning, .warning, .ok, .ok])
        #expect(findings.allSatisfy { ($0.level == .ok) == $0.remedy.isEmpty })
    }

    // MARK: Care

    /// A gateway that listens, after this time, with two regions without a beacon.
    private func quietHome(after uptime: Duration) -> StatusSnapshot {
        var snapshot = StatusSnapshot(
            now: MonotonicInstant.zero.advanced(by: uptime), wallClock: WallClock(epochOffset: 0, isKnown: true),
            version: "1.0.0", device: "hall", startedAt: .zero)
        snapshot.scanner = .init(name: "mgmt", adapters: [.init(name: "hci0", isListening: true)])
        let regions = ["Keys", "Bag", "Cat", "Car"].map {
            StatusSnapshot.RegionStatus(rid: $0, name: $0, description: $0, isInside: false)
        }
        snapshot.trackers = [.init(tid: "t", topic: "owntracks/jane/hall", device: "hall", regions: regions)]
        return snapshot
    }

    private func care(_ snapshot: StatusSnapshot, _ subject: String) -> String? {
        snapshot.liveFindings.first { $0.subject == subject }.map { "\($0.level): \($0.text)" }
    }

    @Test func `A beacon that was never heard is a finding an hour after the start`() {
        #expect(care(quietHome(after: .seconds(3599)), "unheard") == nil)
        var snapshot = quietHome(after: .seconds(3600))
        #expect(care(snapshot, "unheard") == "warning: never heard: Keys, Bag, Cat and 1 more")
        snapshot.trackers[0].regions[0].lastHeard = snapshot.now
        snapshot.trackers[0].regions[1].since = .zero
        snapshot.trackers[0].regions[2].isInside = true
        #expect(care(snapshot, "unheard") == "warning: never heard: Car")
    }

    @Test func `While no adapter listens, no beacon is called never heard`() {
        var snapshot = quietHome(after: .seconds(7200))
        snapshot.scanner.adapters[0].isListening = false
        #expect(care(snapshot, "unheard") == nil)
    }

    @Test func `A newer version is a finding with the command that installs it`() {
        var snapshot = quietHome(after: .seconds(1))
        #expect(care(snapshot, "version") == nil)
        snapshot.newerVersion = "1.1.0"
        #expect(care(snapshot, "version") == "warning: version 1.1.0 can be installed; this is 1.0.0")
        #expect(snapshot.liveFindings.first { $0.subject == "version" }?.remedy.contains("--only-upgrade") == true)
    }

    @Test func `A page that is not served is a finding with the reason and what to do`() {
        var snapshot = quietHome(after: .seconds(1))
        #expect(care(snapshot, "page") == nil)
        snapshot.pageProblem = ("the status page cannot listen on 127.0.0.1:8080: Address already in use", "end it")
        let text = "warning: the status page cannot listen on 127.0.0.1:8080: Address already in use"
        #expect(care(snapshot, "page") == text)
        #expect(snapshot.liveFindings.first { $0.subject == "page" }?.remedy == "end it")
    }

    @Test func `That beacons are turned away is a finding with the region and its tracker`() {
        var snapshot = StatusSnapshot(
            now: .zero, wallClock: WallClock(epochOffset: 0, isKnown: true), version: "1", device: "hall",
            startedAt: .zero)
        #expect(!snapshot.liveFindings.contains { $0.subject == "strangers" })
        snapshot.overflow = .init(crowded: CrowdedRegion(topic: "owntracks/jane/hall", region: "Street"))
        let finding = snapshot.liveFindings.first { $0.subject == "strangers" }
        #expect(finding?.level == .warning)
        #expect(finding?.text.contains("region Street of owntracks/jane/hall") == true)
        #expect(finding?.remedy.isEmpty == false)
    }
}
