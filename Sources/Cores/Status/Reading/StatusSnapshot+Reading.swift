package import Base
import Beacon
import Gateway
import Health
package import JSON
import OwnTracks

/// Reads `/status.json` with the type that wrote it. Any program may have answered: what cannot be a value of a
/// snapshot is left out.
extension StatusSnapshot {
    /// The moment of a snapshot that was read: so late that every age lies after the zero of the clock.
    private static let momentOfReading = MonotonicInstant(nanoseconds: 1 << 61)
    /// Epoch seconds that nanoseconds in 64 bits can express: until the year 2255.
    private static let times: ClosedRange<Int64> = 0...9_000_000_000

    package init(reading json: JSONValue) {
        let now = Self.momentOfReading
        let time = json["time"]?.whole(in: Self.times)
        self.init(
            now: now,
            wallClock: WallClock(epochNanoseconds: (time ?? 0) * 1_000_000_000, at: now, isKnown: time != nil),
            version: json["version"]?.string ?? "", device: json["device"]?.string ?? "",
            startedAt: json["uptime"]?.instant(before: now) ?? now)
        scanner = ScannerState(reading: json["scanner"] ?? .null, at: now)
        brokers = json["brokers"].elements { BrokerState(reading: $0, at: now) }
        brokerRefusals = RefusalRecord(reading: json["refusals"] ?? .null, at: now)
        queue = QueueState(reading: json["queue"] ?? .null)
        store = StoreState(problem: json["store"]?["problem"]?.string, writes: json["store"]?["writes"]?.asCount ?? 0)
        trackers = json["trackers"].elements { TrackerStatus(reading: $0, at: now) }
        beacons = json["beacons"].elements { BeaconState(reading: $0, at: now) }
        unlistedBeacons = max(0, Int(clamping: json["beaconCount"]?.asCount ?? 0) - beacons.count)
        phones = json["phones"].elements { PhoneStatus(reading: $0, at: now) }
        proxies = json["bluetoothProxies"].elements { ProxyState(reading: $0, at: now) }
        ownBeacon = json["ownBeacon"].flatMap(OwnBeacon.init(reading:))
        counters.sightings = json["counters"]?["sightings"]?.asCount ?? 0
        malformed = MalformedCounters(reading: json["malformedByKind"] ?? .null)
        refusals = json["refusedCommands"].elements { RecentRefusals.Refusal(reading: $0, at: now) }
        process = json["process"].flatMap(ProcessState.init(reading:))
        findings = json["findings"].elements(Finding.init(reading:))
    }
}

extension StatusSnapshot.ScannerState {
    init(reading json: JSONValue, at now: MonotonicInstant) {
        self.init(
            name: json["name"]?.string ?? "",
            adapters: json["adapters"].elements { StatusSnapshot.Adapter(reading: $0, at: now) },
            scanDuty: json["scanDuty"]?.asShare)
        problem = json["problem"].flatMap { problem in
            problem["text"]?.string.map { .init(text: $0, remedy: problem["cure"]?.string ?? "") }
        }
    }
}

extension StatusSnapshot.Adapter {
    /// Advertising reports per second that are possible, with a margin: the air carries some thousand.
    private static let rates: ClosedRange<Double> = 0...1e6

    init?(reading json: JSONValue, at now: MonotonicInstant) {
        guard let name = json["name"]?.string else { return nil }
        self.init(name: name, isListening: json["listening"] == .bool(true))
        reports = json["reports"]?.asCount ?? 0
        reportsPerSecond = json["reportsPerSecond"]?.number(in: Self.rates) ?? 0
        malformed = json["malformed"]?.asCount ?? 0
        lost = json["lost"]?.asCount ?? 0
        isPausing = json["pausing"] == .bool(true)
        trouble = json["trouble"]?.string
        restarts = json["restarts"]?.asCount ?? 0
        resets = json["resets"]?.asCount ?? 0
        duty = json["duty"]?.asShare
        lastHeard = json["heardAgo"]?.instant(before: now)
        unheard = json["unheard"].elements { $0.string.flatMap { Self.kinds.contains($0) ? $0 : nil } }
    }

    /// The kinds of patterns that may give way.
    private static let kinds: Set = ["identities", "telemetry", "others"]
}

extension MalformedCounters {
    init(reading json: JSONValue) {
        let counts = MalformedKind.allCases.compactMap { kind in json[kind.name]?.asCount.map { (kind, $0) } }
        self.init(Dictionary(uniqueKeysWithValues: counts))
    }
}

extension StatusSnapshot.PhoneStatus {
    package init?(reading json: JSONValue, at now: MonotonicInstant) {
        guard let name = json["name"]?.string else { return nil }
        self.init(
            name: name, uuid: json["uuid"]?.string ?? "", isOrdered: json["ordered"] != .bool(false),
            lastHeard: json["heardAgo"]?.instant(before: now),
            gateways: json["gateways"]?.array.map { $0.compactMap(\.string) })
    }
}

extension JSONValue? {
    /// The elements of an array that can be read.
    func elements<Element>(_ read: (JSONValue) -> Element?) -> [Element] { (self?.array ?? []).compactMap(read) }
}
