import Base
import JSON
import OwnTracks
import Regions

extension Setting {
    static let services: [Setting] = [
        flag(
            "cmd", .both(.live), \.obeysCommands,
            """
            Commands are obeyed. The gateway knows \(CommandService.gateway.commands). The rooms service knows
            \(CommandService.rooms.commands).
            """),
        flag(
            "remoteConfiguration", .gateway(.live), \.allowsRemoteConfiguration,
            """
            The command `setConfiguration` is obeyed, too. It cannot change \(list(rows.map(\.name).filter(localNames.contains))), nor `trackers` and
            `rooms` with keys.
            """),
        seconds(
            "remoteConfigurationTrial", .gateway(.live), \.remoteTrial, in: 0.1...3600,
            "Seconds for which remote settings are tried. If the broker cannot be reached with them, the old ones return."
        ),
        flag(
            "ranging", .gateway(.live), \.ranging,
            "Publish how far each beacon is, on /beacon."),
        seconds(
            "rangingInterval", .gateway(.live), \.rangingInterval, in: 0.1...86_400,
            "Seconds, at least, between two such messages of one beacon."),
        flag(
            "reannounce", .gateway(.live), \.reannounces,
            """
            Send the enter of every occupied region again after Home Assistant has started, or after a broker has
            forgotten the session.
            """),
        setting(
            "homeAssistant", SettingEffects(gateway: .live, rooms: .restart),
            "{discovery: false, prefix: \"homeassistant\"}",
            "Let Home Assistant find the regions by itself.",
            read: { $0.read(&$1.homeAssistant) },
            shown: {
                ["discovery": .bool($0.homeAssistant.discovery), "prefix": .string($0.homeAssistant.prefix)]
            }
        ).keep(\.homeAssistant),
        object(
            "rooms", members: rooms,
            """
            Where a rooms service runs, what this gateway hears of the tags of the site is published for it; null is
            never. Without a list of tags at the broker nothing is published. An object of the members
            below. A change from or to null needs what changes of its members need.
            """,
            read: { reader, configuration in
                reader.read(&configuration.rooms, base: configuration.numberBase)
            },
            isOn: { $0.rooms != nil }),
        setting(
            "http", .gateway(.restart), "{listen: \"127.0.0.1:8080\"}",
            "Where the status page and /metrics are served; null is off.",
            read: { $1.statusPage = $0.statusPage(standard: .gateway) }, shown: { .page($0.statusPage) }
        ).keep(\.statusPage),
        BluetoothProxySetting.row,
        setting(
            "days", .both(.live), "30",
            "Days for which transitions and locations are kept; 0 keeps none, -1 sets no limit by days.",
            read: { if let days = $0.historyDays() { $1.historyDays = days } },
            shown: { .integer(Int64($0.historyDays)) }),
    ]

    /// The members of `rooms`.
    static let rooms: [Setting] = [
        setting(
            "rooms.site", SettingEffects(gateway: .live, rooms: .restart), "\"home\"",
            "The name of the site in topics, 1 to 64 of the characters A-Z, a-z, 0-9, _ and -."
        ) { .text($0.rooms?.site) }
        .keep(inRooms: \.site),
        example(
            "rooms.instance", .rooms(.restart), "\"attic\"",
            "The name of this rooms service in its site, written as `rooms.site`. Without it: the name of this computer."
        ) { .text($0.rooms?.instance) }
        .keep(inRooms: \.instance),
        example(
            "rooms.tags", .rooms(.live), "[\"Jane:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7\"]",
            """
            For the rooms service: tags, a list as `waypoints` is one, or of descriptions alone. `leaveAfter`,
            `enterRSSI` and `leaveRSSI` of a tag have no effect.
            """
        ) { .waypoints($0.rooms?.tags ?? [], base: $0.numberBase) },
        example(
            "rooms.gateways", .rooms(.restart), "{kitchen: \"Kitchen\"}",
            """
            For the rooms service: the rooms of gateways and of ESPresense nodes by their names. The name of a gateway
            is its `deviceId`.
            """
        ) { .members(($0.rooms?.gateways ?? []).map { ($0.gateway, .string($0.room)) }) }
        .keep(inRooms: \.gateways),
        example(
            "rooms.floors", .rooms(.restart), "{Kitchen: 0, Bedroom: 1}",
            "For the rooms service: the floors of rooms, -9 to 99; 0 is the ground floor. They come before `floor`."
        ) { .members(($0.rooms?.floors ?? []).map { ($0.room, .integer(Int64($0.floor))) }) }
        .keep(inRooms: \.floors),
        example(
            "rooms.stairs", .rooms(.restart), "[\"Hall\", \"Landing\"]",
            "For the rooms service: the rooms at both ends of each stairs. Elsewhere a tag changes the floor later then."
        ) { .array(($0.rooms?.stairs ?? []).map { .string($0) }) }
        .keep(inRooms: \.stairs),
        setting(
            "rooms.espresense", .gateway(.reconnect), "false",
            "The gateway publishes the tags as an ESPresense node does, too, for mqtt_room and ESPresense-companion."
        ) { .bool($0.rooms?.actsAsESPresenseNode ?? false) },
        setting(
            "rooms.publishAsEspresense", .rooms(.restart), "false",
            """
            For the rooms service: publish the room of each tag as ESPresense nodes would, one in each room, for
            programs that read them. The tag is half a metre from the node of its room. Together with
            `rooms.espresense` this is a mistake.
            """
        ) { .bool($0.rooms?.publishesVirtualNodes ?? false) }
        .keep(inRooms: \.publishesVirtualNodes),
        setting(
            "rooms.survey", .rooms(.restart), "false",
            "For the rooms service: gateways send beacons, hear each other, and so show that one was moved or covered."
        ) { .bool($0.rooms?.surveysGateways ?? false) }
        .keep(inRooms: \.surveysGateways),
        example(
            "rooms.encryptionKey", SettingEffects(gateway: .reconnect, rooms: .restart), "\"…\"",
            """
            The key of the site, at most 32 bytes, the same on all its gateways and services. With it, all that is
            published below ibeacon-rooms/SITE is encrypted as OwnTracks does, and what is not is refused. Better in a
            file that only the service can read: `rooms.encryptionKeyFile`.
            """
        ) { .text($0.rooms?.encryptionKey.inline?.description) }
        .secrets { [$0.rooms?.encryptionKey.inline] }
        .keep(inRooms: \.encryptionKey),
        example(
            "rooms.encryptionKeyFile", SettingEffects(gateway: .reconnect, rooms: .restart),
            "\"/etc/ibeacon-gateway/site-key\"",
            """
            A file whose first line is the key. Without it and `rooms.encryptionKey`: the systemd credential
            `ibeacon-gateway.rooms.encryptionKey`.
            """
        ) { .text($0.rooms?.encryptionKey.path) }
        .secrets { [$0.rooms?.encryptionKey.inFile] }
        .keep(inRooms: \.encryptionKey),
        setting(
            "rooms.plainState", SettingEffects(gateway: .reconnect, rooms: .restart), "false",
            """
            With a key: the states of tags, rooms, gateways and services are not encrypted, and ESPresense nodes are
            heard. Without it, discovery, `rooms.espresense` and `rooms.publishAsEspresense` are a mistake beside a
            key.
            """
        ) { .bool($0.rooms?.publishesPlainState ?? false) }
        .keep(inRooms: \.publishesPlainState),
        setting(
            "rooms.http", .rooms(.restart), "{listen: \"127.0.0.1:8081\"}",
            "Where the page of the rooms service and its /metrics are served; null is off."
        ) { .page($0.rooms?.statusPage) }
        .keep(inRooms: \.statusPage),
        example(
            "rooms.days", .rooms(.live), "90",
            "Days for which the rooms service keeps its history, as `days`, which is its default."
        ) { $0.rooms?.historyDays.map { .integer(Int64($0)) } ?? .null },
    ]
}

extension JSONValue {
    /// An object; of two members with one name the first counts.
    fileprivate static func members(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(Dictionary(members) { first, _ in first })
    }

    /// Where a page is served.
    fileprivate static func page(_ page: ListenAddress?) -> JSONValue {
        page.map { ["listen": .string($0.description)] } ?? .null
    }
}

extension CommandService {
    /// The commands that the service obeys if `cmd` is set.
    fileprivate var commands: String {
        CommandAction.allCases.filter { action in
            action.rule.delivery(to: self) != .unsupported && !action.rule.needsRemoteConfiguration
        }.map(\.rawValue).joined(separator: ", ")
    }
}

extension MemberReader {
    fileprivate mutating func read(_ settings: inout HomeAssistantSettings) {
        guard var inner = inner("homeAssistant", "{discovery: true, prefix: 'homeassistant'}") else { return }
        settings.discovery = inner.flag("discovery") ?? settings.discovery
        if let prefix = inner.text("prefix") {
            do throws(TopicError) {
                settings.prefix = try Topics(base: prefix).base
            } catch {
                inner.complain("prefix", error.description)
            }
        }
        inner.refuseUnknown(known: ["discovery", "prefix"])
        add(inner.problems)
    }

    fileprivate mutating func read(_ rooms: inout RoomsSettings?, base: NumberBase) {
        if members["rooms"] == .null { rooms = nil }
        guard var inner = inner("rooms", "{site: 'home'}, or null for none") else { return }
        let level = { (json: JSONValue) in json.string.flatMap { TopicIdentifier.isIdentifier($0) ? $0 : nil } }
        let allowed = "1 to 64 of the characters A-Z, a-z, 0-9, _ and -"
        let read = RoomsSettings(
            site: inner.read("site", allowed, level) ?? "home", instance: inner.read("instance", allowed, level),
            tags: inner.tags(base: base), gateways: inner.gateways(), floors: inner.floors(), stairs: inner.stairs(),
            actsAsESPresenseNode: inner.flag("espresense") ?? false,
            publishesVirtualNodes: inner.flag("publishAsEspresense") ?? false,
            surveysGateways: inner.flag("survey") ?? false, historyDays: inner.historyDays(),
            statusPage: inner.statusPage(standard: .rooms),
            encryptionKey: inner.secret("encryptionKey", mostBytes: Configuration.longestEncryptionKey),
            publishesPlainState: inner.flag("plainState") ?? false)
        rooms = read
        for (member, isOn) in [
            ("espresense", read.actsAsESPresenseNode), ("publishAsEspresense", read.publishesVirtualNodes),
        ] where isOn && read.hasKey && !read.publishesPlainState {
            inner.complain(
                member,
                "its messages are not encrypted, and the site has a key; write plainState: true if this is wanted")
        }
        if read.actsAsESPresenseNode, read.publishesVirtualNodes {
            inner.complain(
                "publishAsEspresense",
                "together with espresense the same nodes would say what is heard and what is decided; remove one of the two"
            )
        }
        inner.refuseUnknown(known: Setting.rooms.map(\.member))
        add(inner.problems)
    }

    /// The tags of the rooms service: waypoints, or bare descriptions such as `Jane:UUID:1:7`. Each must name a beacon.
    private mutating func tags(base: NumberBase) -> [RegionChange] {
        guard let list = value("tags") else { return [] }
        guard let elements = list.array else {
            complain("tags", "\(list.kindName) does not fit; write a list of waypoints or descriptions")
            return []
        }
        let waypoints = elements.map { element in
            if case .string = element { JSONValue.object(["_type": "waypoint", "desc": element]) } else { element }
        }
        do throws(WaypointsError) {
            let reading = try WaypointsReading(.array(waypoints), base: base)
            for problem in reading.problems { complain("tags", problem.description) }
            for case .set(let region, _) in reading.changes where !region.isBeacon {
                complain("tags", "'\(shortened(region.displayName))' names no beacon; write 'Name:UUID:major:minor'")
            }
            return reading.changes
        } catch {
            complain("tags", error.description)
            return []
        }
    }

    /// The rooms of gateways.
    private mutating func gateways() -> [RoomsSettings.GatewayRoom] {
        guard let value = value("gateways") else { return [] }
        guard let members = value.object else {
            complain("gateways", "\(value.shortened) does not fit; write {gateway: 'Room'}")
            return []
        }
        var inner = MemberReader(members, files: files, path: "\(path)gateways.")
        defer { add(inner.problems) }
        return members.keys.sorted().compactMap { gateway in
            guard let room = members[gateway]?.string.flatMap(Self.roomName) else {
                inner.complain(shortened(gateway), "this does not fit; write \(Self.allowedRoom)")
                return nil
            }
            return RoomsSettings.GatewayRoom(gateway: gateway, room: room)
        }
    }

    private static let allowedRoom =
        "the name of a room, 1 to \(RoomsSettings.mostRoomNameBytes) bytes without control characters"

    /// A name without blanks around it; nil if the text is none.
    private static func roomName(_ text: String) -> String? {
        let room = String(Substring(text).trimmed)
        let isName =
            (1...RoomsSettings.mostRoomNameBytes).contains(room.utf8.count)
            && room.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        return isName ? room : nil
    }

    /// The floors of rooms.
    private mutating func floors() -> [RoomsSettings.RoomOnFloor] {
        guard var inner = inner("floors", "{Room: 0}") else { return [] }
        defer { add(inner.problems) }
        return inner.members.keys.sorted().compactMap { name in
            guard let room = Self.roomName(name) else {
                inner.complain(shortened(name), "this is no room; write \(Self.allowedRoom)")
                return nil
            }
            return inner.whole(name, roomFloors).map { RoomsSettings.RoomOnFloor(room: room, floor: $0) }
        }
    }

    /// The rooms with stairs.
    private mutating func stairs() -> [String] {
        read("stairs", "a list of rooms, each \(Self.allowedRoom)") { value in
            guard let list = value.array else { return nil }
            let rooms = list.compactMap { $0.string.flatMap(Self.roomName) }
            return rooms.count == list.count ? rooms : nil
        } ?? []
    }

    /// The member `http`; nil if no page is served.
    ///
    /// - Parameter standard: Where the page is served by default.
    fileprivate mutating func statusPage(standard: ListenAddress) -> ListenAddress? {
        // The only member for which null does not mean "default".
        if members["http"] == .null { return nil }
        guard var inner = inner("http", "{listen: '\(standard)'}, or null for none") else { return standard }
        let allowed = "an address in figures with a port, such as \(standard) or [::1]:\(standard.port)"
        let address = inner.read("listen", allowed) {
            $0.string.flatMap { ListenAddress($0) }.flatMap { $0.isInFigures ? $0 : nil }
        }
        inner.refuseUnknown(known: ["listen"])
        add(inner.problems)
        return address ?? standard
    }

    fileprivate mutating func historyDays() -> Int? {
        whole("days", -1...36_500, " (0 keeps none, -1 sets no limit by days)")
    }
}

extension Region {
    fileprivate var isBeacon: Bool {
        if case .beacon = kind { true } else { false }
    }
}
