import Base
import Beacon
import Gateway
import Health
import JSON
import OwnTracks
import Status
import Testing

@testable import GatewayEntities

@Suite("Home Assistant's feed")
struct HomeAssistantFeedTests {
    private static let settings = HomeAssistantFeed.Settings(
        prefix: "homeassistant", device: "pi kitchen", version: "1.0.0")
    private var feed = HomeAssistantFeed(settings)

    @Test("With the usual prefix there is one topic of Home Assistant's birth")
    func oneBirthTopic() { #expect(feed.subscriptions.count { $0.hasSuffix("/status") } == 1) }

    /// A gateway with one tracker and these regions, `seconds` after its start.
    private func snapshot(
        _ regions: [(rid: String, name: String, isInside: Bool)], seconds: Int64 = 0, rssi: Int8? = nil
    )
        -> StatusSnapshot
    {
        let now = MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
        var snapshot = StatusSnapshot(
            now: now, wallClock: WallClock(epochOffset: 1_767_225_600_000_000_000, isKnown: true), version: "1.0.0",
            device: "pi kitchen", startedAt: .zero)
        snapshot.trackers = [
            .init(
                tid: "AN", topic: "owntracks/home/anna", device: "anna",
                regions: regions.map {
                    var region = StatusSnapshot.RegionStatus(
                        rid: $0.rid, name: $0.name, description: $0.name, isInside: $0.isInside)
                    region.rssi = rssi.flatMap { RSSI(reported: $0) }
                    region.lastHeard = rssi == nil ? nil : now
                    return region
                })
        ]
        return snapshot
    }

    private func configs(_ messages: [Publication]) throws -> [(topic: String, config: JSONValue)] {
        try messages.filter { $0.topic.hasSuffix("/config") && !$0.payload.isEmpty }
            .map { ($0.topic, try JSONValue(parsing: $0.payload)) }
    }

    @Test("Every description has a unique id, a device, an origin and a topic that Home Assistant takes")
    mutating func descriptions() throws {
        let all = try configs(feed.update(snapshot([("b4b412", "Kitchen", false), ("a/b+c#d", "Other", false)])))
        #expect(Set(all.compactMap { $0.config["unique_id"]?.string }).count == all.count)
        for (topic, config) in all {
            #expect(config["device"]?["identifiers"]?.array?.isEmpty == false)
            #expect(config["origin"]?["name"] == "ibeacon-gateway")
            let parts = topic.split(separator: "/")
            #expect(parts.count == 5 && parts[0] == "homeassistant" && parts[4] == "config")
            // Home Assistant's own rule for node and object.
            let isTaken = parts[2...3].allSatisfy {
                $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
            }
            #expect(isTaken, "\(topic)")
            #expect(config["object_id"] == nil, "no longer taken from 2026.4 on")
        }
    }

    @Test("Of a tracker in quiet mode nothing is told but the mode, and what was told is taken back")
    mutating func quiet() throws {
        func states(_ messages: [Publication]) -> [String: JSONValue] {
            Dictionary(
                messages.filter { $0.topic.hasPrefix("ibeacon-gateway/anna/") }.map {
                    ($0.topic, (try? JSONValue(parsing: $0.payload)) ?? .null)
                }
            ) { $1 }
        }
        let (presence, signal) = ("ibeacon-gateway/anna/presence/", "ibeacon-gateway/anna/signal/k")
        func snapshot(quiet: Bool, _ seconds: Int64, rssi: Int8?) -> StatusSnapshot {
            var snapshot = self.snapshot([("k", "Kitchen", true)], seconds: seconds, rssi: rssi)
            if quiet { (snapshot.trackers[0].tellsPresence, snapshot.trackers[0].monitoring) = (false, -1) }
            return snapshot
        }
        feed.connected()
        let told = states(feed.update(snapshot(quiet: false, 1, rssi: -60)))
        let topic = try #require(told.keys.first { $0.hasPrefix(presence) })
        #expect((told[topic]?["state"], told[signal]?["rssi"]) == ("home", -60))
        let silenced = states(feed.update(snapshot(quiet: true, 2, rssi: -50)))
        #expect(
            silenced[topic] == ["state": .null, "in_zones": [], "regions": [], "monitoring": "quiet"])
        #expect(silenced[signal]?.object?.filter { $0.value != .null }.keys.sorted() == ["seen"])
        #expect(silenced[signal]?["seen"] == told[signal]?["seen"])
        for seconds: Int64 in [3, 700, 1400] {
            #expect(states(feed.update(snapshot(quiet: true, seconds, rssi: Int8(-40 - seconds / 100)))).isEmpty)
        }
        // On a new connection, and after a start, too.
        feed.connected()
        #expect(states(feed.update(snapshot(quiet: true, 1401, rssi: -50)))[signal]?["rssi"] == .null)
        let back = states(feed.update(snapshot(quiet: false, 1402, rssi: -61)))
        #expect((back[topic]?["state"], back[signal]?["rssi"]) == ("home", -61))
    }

    @Test("What the issue of a home needs is there")
    mutating func entities() throws {
        let all = try configs(feed.update(snapshot([("b4b412", "Kitchen", false)])))
        let kinds = Dictionary(grouping: all, by: { String($0.topic.split(separator: "/")[1]) }).mapValues(\.count)
        #expect(kinds == ["binary_sensor": 4, "sensor": 8, "button": 2, "select": 1, "device_tracker": 1])
        let occupancy = try #require(all.first { $0.config["device_class"] == "occupancy" }).config
        #expect(occupancy["state_topic"] == "ibeacon-gateway/anna/region/b4b412")
        #expect(occupancy["availability"]?.array?.first?["topic"] == "ibeacon-gateway/pi kitchen/availability")
    }

    @Test(
        "The gateway is created in the area of its room, if a person named the room", arguments: [nil, "Living room"])
    func area(room: String?) throws {
        var feed = HomeAssistantFeed(.init(prefix: "homeassistant", device: "pi", version: "1.0.0", area: room))
        let all = try configs(feed.update(snapshot([]))).filter { $0.topic.contains("connectivity") }
        #expect(all.map { $0.config["device"]?["suggested_area"]?.string } == [room])
    }

    /// One region whose beacon has this battery.
    private func snapshot(battery level: UInt8?, isLow: Bool = false, seconds: Int64 = 0) -> StatusSnapshot {
        var snapshot = snapshot([("b4b412", "Kitchen", true)], seconds: seconds)
        snapshot.trackers[0].regions[0].battery = level.flatMap { BatteryReading(level: $0, millivolts: 2950) }.map {
            BatteryState(battery: $0, temperature: 21.26, instant: snapshot.now, isLow: isLow)
        }
        return snapshot
    }

    private static let battery = "ibeacon-gateway/anna/battery/b4b412"

    @Test("A battery becomes an entity with its first reading, and its state follows the description")
    mutating func battery() throws {
        #expect(try configs(feed.update(snapshot(battery: nil))).allSatisfy { $0.config["device_class"] != "battery" })
        let messages = feed.update(snapshot(battery: 87, seconds: 1))
        let all = try configs(messages)
        #expect(all.count == 1)
        let config = try #require(all.first).config
        #expect(config["device_class"] == "battery" && config["unit_of_measurement"] == "%")
        #expect(config["name"] == "Kitchen battery" && config["entity_category"] == "diagnostic")
        #expect(config["state_topic"] == .string(Self.battery))
        #expect(messages.last?.topic == Self.battery)
        #expect(
            try JSONValue(parsing: messages.last?.payload ?? [])
                == ["battery": 87, "low": false, "voltage": .number(2.95), "temperature": .number(21.3)])
    }

    @Test("Small changes of a battery are sent every ten minutes, and that it is low at once")
    mutating func batteryChanges() {
        _ = feed.update(snapshot(battery: 50))
        #expect(!feed.update(snapshot(battery: 49, seconds: 599)).contains { $0.topic == Self.battery })
        #expect(feed.update(snapshot(battery: 49, seconds: 601)).contains { $0.topic == Self.battery })
        #expect(feed.update(snapshot(battery: 9, isLow: true, seconds: 602)).contains { $0.topic == Self.battery })
        #expect(feed.update(snapshot(battery: 90, seconds: 603)).contains { $0.topic == Self.battery })
    }

    @Test("The battery of an earlier run keeps its entity and its state until it is read again")
    mutating func batteryOfAnEarlierRun() throws {
        let described = feed.update(snapshot(battery: 87)).first { $0.text.contains("Kitchen battery") }
        let description = try #require(described)
        var later = HomeAssistantFeed(Self.settings)
        _ = later.update(snapshot(battery: nil))
        #expect(later.received(topic: description.topic, payload: description.text, isRetained: true, at: .zero) == nil)
        let messages =
            later.update(snapshot(battery: nil, seconds: 1)) + later.update(snapshot(battery: nil, seconds: 9))
        #expect(!messages.contains { $0.topic == description.topic || $0.topic == Self.battery })
        // The region is removed: the entity goes, and later its state.
        let removed = later.update(snapshot([], seconds: 10)) + later.update(snapshot([], seconds: 20))
        #expect(removed.filter { $0.payload.isEmpty }.map(\.topic).contains(description.topic))
        #expect(removed.contains(.homeAssistant(Self.battery, "")))
    }

    @Test("Nothing is sent twice, and a change alone is sent")
    mutating func differences() {
        let regions = [(rid: "b4b412", name: "Kitchen", isInside: false)]
        #expect(!feed.update(snapshot(regions)).isEmpty)
        #expect(feed.update(snapshot(regions, seconds: 1)).isEmpty)
        let entered = feed.update(snapshot([("b4b412", "Kitchen", true)], seconds: 2))
        #expect(entered.count == 1 && entered[0].topic == "ibeacon-gateway/anna/presence/owntracks%2Fhome%2Fanna")
        #expect(entered[0].text.contains(#""state":"home""#) && entered[0].text.contains("zone.home"))
    }

    @Test("A tracker's device has its name, and is described anew under another one")
    mutating func trackerNames() throws {
        func names(_ messages: [Publication]) throws -> Set<String> {
            Set(
                try configs(messages).compactMap { $0.config["device"] }.filter { $0["model"] == "Tracker" }
                    .compactMap { $0["name"]?.string })
        }
        var snapshot = snapshot([("b4b412", "Kitchen", false)])
        #expect(try names(feed.update(snapshot)) == ["home anna"])
        snapshot.trackers[0].name = "Anna"
        #expect(try names(feed.update(snapshot)) == ["Anna"])
        #expect(feed.update(snapshot).isEmpty)
    }

    @Test("A new name is the same entity")
    mutating func renames() throws {
        let before = try configs(feed.update(snapshot([("b4b412", "Kitchen", false)])))
        let after = try configs(feed.update(snapshot([("b4b412", "Scullery", false)], seconds: 1)))
        #expect(after.count == 5)
        for (topic, config) in after {
            let old = try #require(before.first { $0.topic == topic })
            #expect(old.config["unique_id"] == config["unique_id"] && old.config["name"] != config["name"])
        }
    }

    @Test("A removed region is removed, also if it went while the gateway slept")
    mutating func removals() {
        let first = feed.update(snapshot([("b4b412", "Kitchen", false)]))
        let gone = feed.update(snapshot([], seconds: 1)).filter(\.payload.isEmpty)
        #expect(gone.count == 5 && gone.allSatisfy { $0.topic.hasSuffix("/config") })
        let signal = ["ibeacon-gateway/anna/signal/b4b412"]
        #expect(feed.update(snapshot([], seconds: 4)).isEmpty)
        #expect(feed.update(snapshot([], seconds: 6)).map(\.topic) == signal, "when Home Assistant has let go of it")

        var restarted = HomeAssistantFeed(Self.settings)
        for message in first {
            let request = restarted.received(topic: message.topic, payload: message.text, isRetained: true, at: .zero)
            #expect(request == nil)
        }
        let removals = restarted.update(snapshot([])).filter(\.payload.isEmpty)
        #expect(removals.count == 5 && removals.allSatisfy { $0.topic.contains("b4b412") })
        #expect(restarted.update(snapshot([], seconds: 5)).map(\.topic) == signal)
    }

    @Test("A tracker that was removed while the gateway slept is not kept at home by its retained state")
    mutating func removedTracker() {
        let first = feed.update(snapshot([("b4b412", "Kitchen", true)]))
        var restarted = HomeAssistantFeed(Self.settings)
        for message in first {
            _ = restarted.received(topic: message.topic, payload: message.text, isRetained: true, at: .zero)
        }
        func empty(_ seconds: Int64) -> StatusSnapshot {
            var empty = snapshot([], seconds: seconds)
            empty.trackers = []
            return empty
        }
        #expect(restarted.update(empty(0)).contains { $0.topic.contains("/device_tracker/") && $0.payload.isEmpty })
        #expect(
            restarted.update(empty(5)).map(\.topic) == [
                "ibeacon-gateway/anna/presence/owntracks%2Fhome%2Fanna", "ibeacon-gateway/anna/signal/b4b412",
            ])
    }

    @Test("An entity that was removed while Home Assistant was off is described and removed again at its birth")
    mutating func orphans() {
        func descriptions(_ messages: [Publication]) -> [Publication] {
            messages.filter { $0.topic.contains("b4b412") && $0.topic.hasSuffix("/config") }
                .sorted { $0.topic < $1.topic }
        }
        let first = descriptions(feed.update(snapshot([("b4b412", "Kitchen", false)])))
        _ = feed.update(snapshot([], seconds: 1))
        _ = feed.received(topic: "homeassistant/status", payload: "online", isRetained: false, at: .zero)
        #expect(descriptions(feed.update(snapshot([], seconds: 60))) == first)
        #expect(feed.update(snapshot([], seconds: 62)).isEmpty)
        let removed = descriptions(feed.update(snapshot([], seconds: 63)))
        #expect(removed.map(\.topic) == first.map(\.topic) && removed.allSatisfy(\.payload.isEmpty))
        _ = feed.received(topic: "homeassistant/status", payload: "online", isRetained: false, at: .zero)
        #expect(descriptions(feed.update(snapshot([], seconds: 90))).isEmpty, "once is enough")
    }

    @Test(
        "Home Assistant's birth counts on its default topic and on that of the prefix",
        arguments: ["homeassistant/status", "ha/status"])
    mutating func birth(topic: String) {
        feed = HomeAssistantFeed(.init(prefix: "ha", device: "pi kitchen", version: "1.0.0"))
        #expect(feed.subscriptions.count { $0 == topic } == 1)
        let first = feed.update(snapshot([]))
        #expect(!first.isEmpty && feed.update(snapshot([], seconds: 1)).isEmpty)
        _ = feed.received(topic: topic, payload: "online", isRetained: false, at: .zero)
        #expect(feed.update(snapshot([], seconds: 2)).map(\.topic) == first.map(\.topic))
    }

    @Test("However often Home Assistant starts, everything is sent once in half a minute, and again after that")
    mutating func births() {
        let regions = (0..<200).map { (rid: "r\($0)", name: "R\($0)", isInside: false) }
        let whole = feed.update(snapshot(regions)).count
        var sent = 0
        for number in 0..<5000 {
            let second = 1 + number / 100
            let now = MonotonicInstant.zero.advanced(by: .seconds(second))
            _ = feed.received(topic: "homeassistant/status", payload: "online", isRetained: false, at: now)
            if number % 100 == 99 { sent += feed.update(snapshot(regions, seconds: Int64(second))).count }
        }
        // At 1 s and at 31 s; 50 s later the rest of them has one round together.
        #expect(sent == 2 * whole)
        #expect(feed.update(snapshot(regions, seconds: 61)).count == whole)
        #expect(feed.update(snapshot(regions, seconds: 100)).isEmpty)
    }

    @Test("A description of another client that is too long to be remembered is removed, and not shown again")
    mutating func longDescriptions() {
        func topic(_ object: String) -> String { "homeassistant/sensor/\(Self.settings.nodeID)/\(object)/config" }
        for (object, count) in [("short", 10_000), ("long", 20_000)] {
            let payload = String(repeating: "x", count: count)
            _ = feed.received(topic: topic(object), payload: payload, isRetained: true, at: .zero)
        }
        let removed = feed.update(snapshot([])).filter(\.payload.isEmpty).map(\.topic)
        #expect(removed == [topic("long"), topic("short")])
        _ = feed.received(topic: "homeassistant/status", payload: "online", isRetained: false, at: .zero)
        let shown = feed.update(snapshot([], seconds: 60)).filter { $0.text.hasPrefix("x") }
        #expect(shown.map(\.topic) == [topic("short")])
    }

    @Test("Of very many descriptions of other clients some are removed at each connection")
    mutating func manyDescriptions() {
        var waiting = Set((0..<15_000).map { "homeassistant/sensor/\(Self.settings.nodeID)/x\($0)/config" })
        for left in [5_000, 0] {
            feed.connected()
            _ = feed.update(snapshot([]))
            for topic in waiting.sorted() {
                _ = feed.received(topic: topic, payload: "{}", isRetained: true, at: .zero)
            }
            waiting.subtract(feed.update(snapshot([])).filter(\.payload.isEmpty).map(\.topic))
            #expect(waiting.count == left)
        }
    }

    @Test("A region that exists again is not removed at Home Assistant's birth")
    mutating func returned() {
        let regions = [(rid: "b4b412", name: "Kitchen", isInside: false)]
        _ = feed.update(snapshot(regions))
        _ = feed.update(snapshot([], seconds: 1))
        _ = feed.update(snapshot(regions, seconds: 2))
        _ = feed.received(topic: "homeassistant/status", payload: "online", isRetained: false, at: .zero)
        _ = feed.update(snapshot(regions, seconds: 3))
        #expect(feed.update(snapshot(regions, seconds: 10)).filter(\.payload.isEmpty).isEmpty)
    }

    @Test("Regions of one name show their numbers, and regions without a name their rid")
    mutating func equalNames() throws {
        var snapshot = snapshot([])
        let uuid = "FDA50693-A4E2-4FB1-AFCF-C6EB07647825"
        snapshot.trackers = [
            .init(
                tid: "AN", topic: "owntracks/home/anna", device: "anna",
                regions: [
                    ("a", "Keys", "Keys:\(uuid):1:7"), ("b", "Keys", "Keys:\(uuid):1:8"), ("c", "Car", "Car:\(uuid)"),
                    ("d", "Dog", "Dog:\(uuid)"), ("e", "Dog", "Dog:\(uuid)"), ("f", "", ":\(uuid):1"),
                ].map { .init(rid: $0, name: $1, description: $2, isInside: false) })
        ]
        let occupancies = try configs(feed.update(snapshot)).filter { $0.config["device_class"] == "occupancy" }
        #expect(
            occupancies.compactMap { $0.config["name"]?.string }
                == ["Keys 1:7", "Keys 1:8", "Car", "Dog d", "Dog e", "Region f"])
    }

    @Test("Numbers that change all the time are not recorded unless a person wants it")
    mutating func whatIsDisabled() throws {
        let all = try configs(feed.update(snapshot([("b4b412", "Kitchen", false)])))
        let disabled = all.filter { $0.config["enabled_by_default"] == .bool(false) }
        #expect(
            disabled.compactMap { $0.config["name"]?.string } == [
                "Kitchen RSSI", "Kitchen distance", "Kitchen last seen",
            ])
    }

    @Test("All is told again at Home Assistant's birth and at a new connection")
    mutating func birth() {
        let regions = [(rid: "b4b412", name: "Kitchen", isInside: true)]
        let first = feed.update(snapshot(regions))
        _ = feed.received(topic: "homeassistant/status", payload: "online", isRetained: false, at: .zero)
        #expect(feed.update(snapshot(regions)) == first)
        feed.connected()
        #expect(feed.update(snapshot(regions)) == first)
        _ = feed.received(topic: "homeassistant/status", payload: "offline", isRetained: false, at: .zero)
        #expect(feed.update(snapshot(regions)).isEmpty)
    }

    @Test("Signals are sent at their own slow pace")
    mutating func pace() {
        func region(_ seconds: Int64, _ rssi: Int8) -> StatusSnapshot {
            snapshot([("b4b412", "Kitchen", true)], seconds: seconds, rssi: rssi)
        }
        _ = feed.update(region(0, -60))
        #expect(feed.update(region(599, -70)).isEmpty)
        #expect(feed.update(region(600, -71)).map(\.topic) == ["ibeacon-gateway/anna/signal/b4b412"])
    }

    @Test("A region fills Home Assistant's recorder with at most 300 rows in a day")
    mutating func recorder() throws {
        var rows = 0
        var last: [String: JSONValue] = [:]
        for seconds in stride(from: Int64(0), to: 86_400, by: 5) {
            let rssi = Int8(-90 + seconds / 5 % 37)
            for message in feed.update(snapshot([("b4b412", "Kitchen", true)], seconds: seconds, rssi: rssi)) {
                guard message.topic == "ibeacon-gateway/anna/signal/b4b412" else { continue }
                // RSSI and distance, if a person enabled both.
                for member in ["rssi", "distance"] {
                    let value = try JSONValue(parsing: message.payload)[member] ?? .null
                    if last.updateValue(value, forKey: member) != value { rows += 1 }
                }
            }
        }
        #expect((100...300).contains(rows))
    }

    @Test(
        "Hostile names do no harm",
        arguments: [
            "{{ states('lock.door') }}", "<script>", "\u{202e}abc", "a\0b", String(repeating: "x", count: 10_000), "",
            "-",
        ])
    func hostileNames(name: String) throws {
        var feed = HomeAssistantFeed(Self.settings)
        for (_, config) in try configs(feed.update(snapshot([("b4b412", name, true)]))) {
            let shown = config["name"]?.string ?? "x"
            #expect(!shown.isEmpty && shown.count <= 100 && !shown.unicodeScalars.contains { $0.value < 32 })
            for (member, value) in config.object ?? [:] where member.hasSuffix("template") {
                #expect(value.string.map { name.isEmpty || name == "-" || !$0.contains(name) } ?? true)
            }
        }
    }

    @Test(
        "Commands of buttons and selectors are understood, and nothing else is",
        arguments: [
            ("restart-scan", HomeAssistantFeed.Request.restartScan), ("report-location:1", .reportLocation(tracker: 1)),
            ("monitoring:0:quiet", .setMonitoring(tracker: 0, mode: -1)),
            ("monitoring:0:move", .setMonitoring(tracker: 0, mode: 2)), ("monitoring:0:loud", nil),
            ("report-location:x", nil), ("", nil), ("rm -rf", nil),
        ] as [(String, HomeAssistantFeed.Request?)])
    func commands(payload: String, expected: HomeAssistantFeed.Request?) {
        var feed = HomeAssistantFeed(Self.settings)
        let topic = "ibeacon-gateway/pi kitchen/command"
        #expect(feed.received(topic: topic, payload: payload, isRetained: false, at: .zero) == expected)
        #expect(feed.received(topic: topic, payload: payload, isRetained: true, at: .zero) == nil)
    }

    @Test(
        "Dates are those of the calendar",
        arguments: [
            (0, "1970-01-01T00:00:00+00:00"), (951_782_400, "2000-02-29T00:00:00+00:00"),
            (1_767_225_599, "2025-12-31T23:59:59+00:00"), (4_107_542_400, "2100-03-01T00:00:00+00:00"),
            (-1, "1969-12-31T23:59:59+00:00"),
        ] as [(Int64, String)])
    func dates(seconds: Int64, text: String) {
        #expect(iso8601(epochSeconds: seconds) == text)
    }

    @Test("Different texts give different identifiers")
    func identifiers() {
        let texts = [
            "a/b", "a_b", "a_2fb", "a-b", "", "ä", String(repeating: "x", count: 100),
            String(repeating: "x", count: 101),
        ]
        let made = texts.map { TopicIdentifier.identifier(of: $0) }
        #expect(Set(made).count == texts.count)
        #expect(made.allSatisfy { $0.utf8.count <= 80 })
    }

    // MARK: - A gateway that got another name

    /// What a gateway with another name has retained at the broker.
    private func announced(by device: String) -> [Publication] {
        var old = Self.settings
        old.device = device
        var feed = HomeAssistantFeed(old)
        return feed.update(snapshot([("b4b412", "Kitchen", false)], rssi: -60)).filter { !$0.payload.isEmpty }
    }

    /// A feed that was connected at 0, with what the broker retains of the former device.
    private func renamed(_ device: String = "old", _ availability: String? = "offline") -> HomeAssistantFeed {
        var new = Self.settings
        new.formerDevices = [device]
        var feed = HomeAssistantFeed(new)
        feed.connected()
        _ = feed.update(snapshot([("b4b412", "Kitchen", false)]))
        for message in announced(by: device) where message.topic.hasSuffix("/config") {
            _ = feed.received(topic: message.topic, payload: message.text, isRetained: true, at: .zero)
        }
        if let availability {
            _ = feed.received(
                topic: DeviceTopics.availability(device: device), payload: availability, isRetained: true,
                at: .zero)
        }
        return feed
    }

    /// The topics that are emptied until a second.
    private func emptied(by feed: inout HomeAssistantFeed, until end: Int64) -> Set<String> {
        var topics: Set<String> = []
        for second in stride(from: Int64(1), through: end, by: 1) {
            let messages = feed.update(snapshot([("b4b412", "Kitchen", false)], seconds: second))
            topics.formUnion(messages.filter(\.payload.isEmpty).map(\.topic))
        }
        return topics
    }

    @Test(
        "A gateway that has another name empties all that it had announced under the former one",
        arguments: ["offline", nil])
    func formerDevice(availability: String?) throws {
        var feed = renamed("old", availability)
        #expect(feed.subscriptions.contains("homeassistant/+/ibeacon-gateway-old/+/config"))
        #expect(emptied(by: &feed, until: 4).isEmpty)
        #expect(feed.drainFinished().isEmpty)
        let topics = emptied(by: &feed, until: 30)
        let all = Set(announced(by: "old").map(\.topic))
        let own = Set(announced(by: Self.settings.device).map(\.topic))
        #expect(all.count > 15)
        #expect(topics == all.subtracting(own).union([DeviceTopics.availability(device: "old")]))
        #expect(feed.drainFinished() == ["old"])
    }

    @Test("A former name that another gateway has now is left alone, and forgotten")
    func takenDevice() {
        var feed = renamed("old", "online")
        #expect(emptied(by: &feed, until: 119).isEmpty)
        #expect(emptied(by: &feed, until: 200).isEmpty)
        #expect(feed.drainFinished() == ["old"])
    }

    @Test("A gateway whose will comes late is not taken for another one")
    func lateWill() {
        var feed = renamed("old", "online")
        #expect(emptied(by: &feed, until: 60).isEmpty)
        _ = feed.received(
            topic: DeviceTopics.availability(device: "old"), payload: "offline", isRetained: false, at: .zero)
        #expect(emptied(by: &feed, until: 90).count > 15)
    }
}
