import Base
import Beacon
import JSON
import OwnTracks
import Regions

extension Setting {
    /// `ConfigurationReader` reads the position, and `TrackerReader` reads `away`.
    static let place: [Setting] = [
        example(
            "room", .gateway(.live), "\"Kitchen\"",
            "The room in which this gateway stands, for a rooms service. Without it: `deviceId`.",
            read: { if let room = $0.room(), !room.isEmpty { $1.room = room } }, shown: { .string($0.room) }
        ).own { $0.namedRoom.map { .string($0) } ?? .null },
        example(
            "floor", .gateway(.live), "1",
            "The floor of that room, a whole number from -9 to 99; 0 is the ground floor. For a rooms service.",
            read: { $1.floor = $0.whole("floor", roomFloors) },
            shown: { $0.floor.map { .integer(Int64($0)) } ?? .null }),
        setting(
            "lat", SettingEffects(gateway: .live, rooms: .restart), "0",
            "The latitude of the place where this gateway stands, in degrees; in every transition."
        ) {
            .degrees($0.position.coordinates.latitude)
        }.keep(\.position),
        setting(
            "lon", SettingEffects(gateway: .live, rooms: .restart), "0",
            "The longitude of the place, in degrees."
        ) {
            .degrees($0.position.coordinates.longitude)
        }.keep(\.position),
        setting(
            "acc", SettingEffects(gateway: .live, rooms: .restart), "10",
            "The accuracy of the place in metres, at least 1."
        ) {
            .integer(Int64($0.position.accuracy))
        }.keep(\.position),
        identity(
            "away", .gateway(.live), "{lat: 48.87069, lon: 2.34916, acc: 10}",
            """
            An object of lat, lon and acc that is put into a leave instead, since Home Assistant moves a tracker only
            to a place outside the zone.
            """
        ) { tracker, _ in tracker.away.map { .object($0.members) } ?? .null },
        text(
            "tag", .gateway(.live), \.tag, example: "\"Spain 2023\"",
            "A text that is put into every location."),
    ]

    static let presence: [Setting] = [
        setting(
            "leaveAfter", .gateway(.live), "\"auto\"",
            """
            Seconds of silence before a leave, or "auto": learned from the beacon's own rhythm. A region can have its
            own.
            """,
            read: { reader, configuration in
                let rule = reader.read("leaveAfter", LeaveRule.allowed) { LeaveRule($0) }
                if let rule { configuration.leaveRule = rule }
            },
            shown: { $0.leaveRule.json }),
        example(
            "enterRSSI", .gateway(.live), "-75",
            "A beacon is near from this strength on (dBm). A region can have its own.",
            read: { $1.enterRSSI = $0.rssi("enterRSSI") },
            shown: { $0.enterRSSI.map { .integer(Int64($0.dBm)) } ?? .null }),
        example(
            "leaveRSSI", .gateway(.live), "-85",
            """
            A beacon is gone below this strength (dBm); at most `enterRSSI`. A region can have its own.
            """, read: { $1.leaveRSSI = $0.rssi("leaveRSSI") },
            shown: { $0.leaveRSSI.map { .integer(Int64($0.dBm)) } ?? .null }),
        setting(
            "monitoring", .gateway(.live), "1",
            """
            -1 is quiet: transitions are kept in the history, and of the trackers only locations by `ibeacon-gateway
            report` are published. 0 (manual), 1 (significant) and 2 (move) also publish transitions, with the
            location of each, and the states of regions. The command `reportLocation` is answered in 1 and 2 alone.
            """,
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
            """
            Minutes. In significant (1) and move mode (2), a tracker of which no location was published for so long
            publishes one (`t: "p"`). Where the place of the gateway is not set there is none. Of pings that wait for
            the broker only the newest is kept. 0 is off.
            """),
        interval(
            "locatorInterval", .gateway(.live), \.locatorInterval, unit: .seconds(1), named: "seconds",
            in: 0...31_536_000,
            """
            Seconds: the same as `ping` in move mode (2), for a tracker that is inside a region. 0 is off.
            """),
    ]
}

extension MemberReader {
    /// The name without blanks around it; empty if it is blank, which is as if it was missing.
    fileprivate mutating func room() -> String? {
        read("room", "a name of at most 128 bytes without control characters") { value in
            guard let name = value.string.map({ String(Substring($0).trimmed) }), name.utf8.count <= 128,
                name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
            else { return nil }
            return name
        }
    }
}
