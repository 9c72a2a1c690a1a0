import Base
import JSON
import OwnTracks

extension Setting {
    static let services: [Setting] = [
        flag(
            "cmd", \.obeysCommands,
            "Commands are obeyed: setWaypoints, clearWaypoints, waypoints, reportLocation, status, dump."),
        flag(
            "remoteConfiguration", \.allowsRemoteConfiguration,
            "setConfiguration too (never scanner, file paths, TLS or keys)."),
        seconds(
            "remoteConfigurationTrial", \.remoteTrial, in: 0.1...3600,
            "Seconds for which settings from afar are tried: if the broker cannot be reached with",
            "them, the old ones come back."),
        flag("ranging", \.ranging, "Publish how far each beacon is, on …/beacon."),
        seconds(
            "rangingInterval", \.rangingInterval, in: 0.1...86_400,
            "Seconds, at least, between two such messages of one beacon."),
        flag(
            "reannounce", \.reannounces, "Send the enter of every occupied region again after Home Assistant has",
            "started, or after a broker has forgotten the session."),
        setting(
            "homeAssistant", "{discovery: false, prefix: \"homeassistant\"}",
            "Let Home Assistant find the regions by itself.",
            read: { $0.read(&$1.homeAssistant) },
            shown: {
                ["discovery": .bool($0.homeAssistant.discovery), "prefix": .string($0.homeAssistant.prefix)]
            }),
        setting(
            "rooms", "{site: \"home\"}",
            "Where a rooms service runs, what this gateway hears of the tags of the site is published",
            "for it; null is never. encryptionKeyFile: the key of the site, the same on all its machines.",
            read: { $0.read(&$1.rooms) },
            shown: {
                guard let rooms = $0.rooms else { return .null }
                return [
                    "site": .string(rooms.site), "instance": .text(rooms.instance),
                    "espresense": .bool(rooms.actsAsESPresenseNode),
                    "days": rooms.historyDays.map { .integer(Int64($0)) } ?? .null,
                    "http": shown(page: rooms.statusPage), "encryptionKey": .text(rooms.encryptionKey?.description),
                    "encryptionKeyFile": .text(rooms.encryptionKeyFile),
                    "plainState": .bool(rooms.publishesPlainState),
                ]
            }),
        setting(
            "http", "{listen: \"127.0.0.1:8080\"}", "Status page and /metrics; null is off.",
            read: { $1.statusPage = $0.statusPage(standard: .gateway) }, shown: { shown(page: $0.statusPage) }),
        setting(
            "days", "30", "Days of history (transitions, locations); 0 keeps none, -1 sets no limit by days.",
            read: { if let days = $0.historyDays() { $1.historyDays = days } },
            shown: { .integer(Int64($0.historyDays)) }),
    ]

    private static func shown(page: ListenAddress?) -> JSONValue {
        page.map { ["listen": .string($0.description)] } ?? .null
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

    fileprivate mutating func read(_ rooms: inout RoomsSettings?) {
        if members["rooms"] == .null { rooms = nil }
        guard var inner = inner("rooms", "{site: 'home'}, or null for none") else { return }
        let level = { (json: JSONValue) in json.string.flatMap { TopicIdentifier.isIdentifier($0) ? $0 : nil } }
        let allowed = "1 to 64 of the characters A-Z, a-z, 0-9, _ and -"
        rooms = RoomsSettings(
            site: inner.read("site", allowed, level) ?? "home", instance: inner.read("instance", allowed, level),
            actsAsESPresenseNode: inner.flag("espresense") ?? false, historyDays: inner.historyDays(),
            statusPage: inner.statusPage(standard: .rooms), encryptionKey: inner.secret("encryptionKey"),
            encryptionKeyFile: inner.text("encryptionKeyFile"), publishesPlainState: inner.flag("plainState") ?? false)
        if let key = rooms?.encryptionKey, key.byteCount > 32 {
            inner.complain("encryptionKey", "it has \(key.byteCount) bytes; at most 32 are possible")
        }
        if rooms?.encryptionKey != nil, rooms?.encryptionKeyFile != nil {
            inner.complain("encryptionKeyFile", "it stands beside encryptionKey; give one of the two")
        }
        if rooms?.hasKey == true, rooms?.actsAsESPresenseNode == true, rooms?.publishesPlainState == false {
            inner.complain(
                "espresense",
                "its messages are not encrypted, and the site has a key; write plainState: true if this is wanted")
        }
        // The rooms service itself reads what `tags` and `gateways` hold.
        inner.refuseUnknown(known: [
            "site", "instance", "espresense", "days", "tags", "gateways", "http", "encryptionKey", "encryptionKeyFile",
            "plainState",
        ])
        add(inner.problems)
    }

    /// The member `http`; nil: no page is served.
    ///
    /// - Parameter standard: Where the page is served by default.
    fileprivate mutating func statusPage(standard: ListenAddress) -> ListenAddress? {
        // The one member for which null says something else than "default".
        if members["http"] == .null { return nil }
        guard var inner = inner("http", "{listen: '\(standard)'}, or null for none") else { return standard }
        let address = inner.read("listen", "an address with a port, such as \(standard) or [::1]:\(standard.port)") {
            $0.string.flatMap { ListenAddress($0) }
        }
        inner.refuseUnknown(known: ["listen"])
        add(inner.problems)
        return address ?? standard
    }

    fileprivate mutating func historyDays() -> Int? {
        whole("days", -1...36_500, " (0 keeps none, -1 sets no limit by days)")
    }
}
