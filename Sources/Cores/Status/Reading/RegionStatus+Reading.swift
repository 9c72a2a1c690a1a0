import Base
import Beacon
import Gateway
import Health
import JSON
import OwnTracks
import Presence

extension StatusSnapshot.TrackerStatus {
    init?(reading json: JSONValue, at now: MonotonicInstant) {
        guard let tid = json["tid"]?.string else { return nil }
        let mode = json["monitoring"]?.whole(in: -1...2).map { Int($0) } ?? 1
        self.init(
            tid: tid, topic: json["topic"]?.string ?? "", device: "", monitoring: mode, name: json["name"]?.string,
            regions: json["regions"].elements { StatusSnapshot.RegionStatus(reading: $0, at: now) },
            regionCount: Int(clamping: json["regionCount"]?.asCount ?? 0))
    }
}

extension StatusSnapshot.RegionStatus {
    init?(reading json: JSONValue, at now: MonotonicInstant) {
        guard let name = json["name"]?.string else { return nil }
        self.init(
            rid: json["rid"]?.string ?? "", name: name, description: json["description"]?.string ?? "",
            isInside: json["inside"] == .bool(true))
        since = json["sinceAgo"]?.instant(before: now)
        beacon = json["beacon"]?.string.flatMap { BeaconID($0) }
        rssi = json["rssi"]?.asRSSI
        distance = json["distance"]?.asMetres
        lastHeard = json["heardAgo"]?.instant(before: now)
        leaveDeadline = json["leavesIn"]?.instant(after: now)
        explanation = json["explanation"]?.string ?? ""
        isStale = json["stale"] == .bool(true)
        battery = json["battery"].flatMap { BatteryState(reading: $0, at: now) }
    }
}

extension StatusSnapshot.BeaconState {
    init?(reading json: JSONValue, at now: MonotonicInstant) {
        let numbers: ClosedRange<Int64> = 0...0xffff
        guard let uuid = json["uuid"]?.string.flatMap({ BeaconUUID($0) }),
            let major = json["major"]?.whole(in: numbers),
            let minor = json["minor"]?.whole(in: numbers), let lastHeard = json["heardAgo"]?.instant(before: now)
        else { return nil }
        self.init(
            id: BeaconID(uuid: uuid, major: UInt16(clamping: major), minor: UInt16(clamping: minor)),
            measuredPower: MeasuredPower(dBm: Int8(clamping: json["measuredPower"]?.asInteger ?? 0)),
            rssi: json["rssi"]?.asRSSI, distance: json["distance"]?.asMetres,
            interval: json["interval"]?.asSeconds, lastHeard: lastHeard, sightings: json["sightings"]?.asCount ?? 0,
            series: json["series"]?.string.map(Self.series) ?? [],
            regions: json["regions"].elements(\.string))
        regionCount = max(regions.count, Int(clamping: json["regionCount"]?.asCount ?? 0))
        battery = json["battery"].flatMap { BatteryState(reading: $0, at: now) }
        gateway = json["gateway"]?.string
    }

    private static func series(_ text: String) -> [RSSI?] {
        guard !text.isEmpty else { return [] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map {
            Int8($0).flatMap(RSSI.init(reported:))
        }
    }
}

extension BatteryState {
    init?(reading json: JSONValue, at now: MonotonicInstant) {
        let level = json["percent"]?.whole(in: 0...100).map { UInt8(clamping: $0) }
        let millivolts = json["millivolts"]?.asInteger.flatMap { UInt16(exactly: $0) }
        guard let battery = BatteryReading(level: level, millivolts: millivolts) else { return nil }
        self.init(
            battery: battery, temperature: json["temperature"]?.number(in: -300...10_000).map { Float($0) },
            instant: json["readAgo"]?.instant(before: now), isLow: json["low"] == .bool(true))
    }
}

extension JSONValue {
    /// dBm.
    fileprivate var asRSSI: RSSI? { asInteger.flatMap { Int8(exactly: $0) }.flatMap(RSSI.init(reported:)) }

    /// A distance that a signal can mean, metres.
    fileprivate var asMetres: Double? { number(in: 0...1e9) }
}
