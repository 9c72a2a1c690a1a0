import Base
import Beacon
import JSON
import OwnTracks
import Regions

extension Setting {
    /// `ConfigurationReader` reads the position, and `TrackerReader` reads `away`.
    static let place: [Setting] = [
        example(
            "room", .gateway(.live), "\"Kitchen\"", "The room, for a rooms service. Without it: deviceId.",
            read: { if let room = $0.room() { $1.room = room } }, shown: { .string($0.room) }
        ).own { $0.namedRoom.map { .string($0) } ?? .null },
        setting(
            "lat", SettingEffects(gateway: .live, rooms: .restart), "0",
            "Where this gateway stands, in degrees; in every transition."
        ) {
            .degrees($0.position.coordinates.latitude)
        }.keep(\.position),
        setting("lon", SettingEffects(gateway: .live, rooms: .restart), "0") {
            .degrees($0.position.coordinates.longitude)
        }.keep(\.position),
        setting("acc", SettingEffects(gateway: .live, rooms: .restart), "10", "Metres, at least 1.") {
            .integer(Int64($0.position.accuracy))
        }.keep(\.position),
        identity(
            "away", .gateway(.live), "{lat: 48.87069, lon: 2.34916, acc: 10}",
            "Put into a leave instead, since Home Assistant moves a tracker", "only to a place outside the zone."
        ) { tracker, _ in tracker.away.map { .object($0.members) } ?? .null },
        text("tag", .gateway(.live), \.tag, example: "\"Spain 2023\"", "Put into every location."),
    ]

    static let presence: [Setting] = [
        setting(
            "leaveAfter", .gateway(.live), "\"auto\"",
            "Seconds of silence before a leave, or \"auto\": learned from the beacon's own rhythm.",
            "A region can have its own.",
            read: { reader, configuration in
                let rule = reader.read("leaveAfter", LeaveRule.allowed) { LeaveRule($0) }
                if let rule { configuration.leaveRule = rule }
            },
            shown: { $0.leaveRule.json }),
        example(
            "enterRSSI", .gateway(.live), "-75", "A beacon is near from this strength (dBm), and gone below leaveRSSI.",
            "A region can have its own.",
            read: { $1.enterRSSI = $0.rssi("enterRSSI") },
            shown: { $0.enterRSSI.map { .integer(Int64($0.dBm)) } ?? .null }),
        example(
            "leaveRSSI", .gateway(.live), "-85", read: { $1.leaveRSSI = $0.rssi("leaveRSSI") },
            shown: { $0.leaveRSSI.map { .integer(Int64($0.dBm)) } ?? .null }),
        setting(
            "monitoring", .gateway(.live), "1", "-1 is quiet: no transitions are sent. 0, 1 and 2 send them.",
            read: { reader, configuration in
                let allowed = "-1 (quiet), 0 (manual), 1 (significant) or 2 (move)"
                let mode = reader.read("monitoring", allowed) {
                    $0.asInteger.flatMap { Int(exactly: $0) }.flatMap { MonitoringMode(rawValue: $0) }
                }
                if let mode { configuration.monitoring = mode }
            },
            shown: { .integer(Int64($0.monitoring.rawValue)) }),
        interval(
            "ping", .gateway(.live), \.ping, unit: .seconds(60), named: "minutes", in: 0...525_600,
            "Minutes: in monitoring 1 and 2, a tracker of which no location was published for so",
            "long publishes one (t: p). 0 is off."),
        interval(
            "locatorInterval", .gateway(.live), \.locatorInterval, unit: .seconds(1), named: "seconds",
            in: 0...31_536_000,
            "Seconds: the same in monitoring 2 while the tracker is inside a region."),
    ]
}

extension MemberReader {
    fileprivate mutating func room() -> String? {
        read("room", "a name of at most 128 bytes without control characters") { value in
            guard let name = value.string, name.utf8.count <= 128,
                name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
            else { return nil }
            return name
        }
    }
}
