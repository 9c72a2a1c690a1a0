package import Beacon

/// The topics that the service of a site reads and writes.
package enum RoomTopic: Hashable, Sendable {
    /// `ibeacon-rooms/<site>/tags`
    case tags(site: String)
    /// `ibeacon-rooms/<site>/heard/<gateway>`
    case heard(site: String, gateway: String)
    /// `ibeacon-rooms/<site>/gateway/<gateway>`
    case card(site: String, gateway: String)
    /// `ibeacon-rooms/<site>/learn`
    case learn(site: String)
    /// `ibeacon-rooms/<site>/refused`
    case refused(site: String)
    /// `ibeacon-rooms/<site>/answer`
    case answer(site: String)
    /// `ibeacon-rooms/<site>/service/<instance>`
    case service(site: String, instance: String)
    /// `ibeacon-rooms/<site>/tag/<tag>`
    case tag(site: String, tag: String)
    /// `ibeacon-rooms/<site>/room/<room>`
    case room(site: String, room: String)
    /// `ibeacon-rooms/<site>/health/<gateway>`
    case health(site: String, gateway: String)
    /// `ibeacon-rooms/<site>/nearby`
    case nearbyRequest(site: String)
    /// `ibeacon-rooms/<site>/nearby/<gateway>`
    case nearby(site: String, gateway: String)
    /// `ibeacon-rooms/<site>/phones/<gateway>`
    case phones(site: String, gateway: String)
    /// `ibeacon-gateway/<gateway>/availability`
    case availability(gateway: String)
    /// `espresense/devices/iBeacon:<uuid>-<major>-<minor>/<node>`
    case espresense(BeaconID, node: String)
    /// `espresense/devices/<alias>/<node>`: not the id of an iBeacon, so one that ESPresense's settings give it, or that of another device.
    case espresenseAlias(String, node: String)
    /// `espresense/settings/iBeacon:<uuid>-<major>-<minor>/config`
    case espresenseSettings(BeaconID)
    /// `espresense/rooms/<node>/status`
    case espresenseStatus(node: String)
    /// `espresense/rooms/<node>/telemetry`
    case espresenseTelemetry(node: String)

    /// - Returns: nil for any other topic.
    package init?(_ topic: String) {
        guard topic.utf8.count <= 512 else { return nil }
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch (levels.first, levels.count) {
        case ("ibeacon-rooms", 3) where levels[2] == "tags": self = .tags(site: levels[1])
        case ("ibeacon-rooms", 3) where levels[2] == "learn": self = .learn(site: levels[1])
        case ("ibeacon-rooms", 3) where levels[2] == "refused": self = .refused(site: levels[1])
        case ("ibeacon-rooms", 3) where levels[2] == "answer": self = .answer(site: levels[1])
        case ("ibeacon-rooms", 3) where levels[2] == "nearby": self = .nearbyRequest(site: levels[1])
        case ("ibeacon-rooms", 4) where levels[2] == "nearby" && Self.isName(levels[3]):
            self = .nearby(site: levels[1], gateway: levels[3])
        case ("ibeacon-rooms", 4) where levels[2] == "heard" && Self.isName(levels[3]):
            self = .heard(site: levels[1], gateway: levels[3])
        case ("ibeacon-rooms", 4) where levels[2] == "gateway" && Self.isName(levels[3]):
            self = .card(site: levels[1], gateway: levels[3])
        case ("ibeacon-rooms", 4) where levels[2] == "service" && Self.isName(levels[3]):
            self = .service(site: levels[1], instance: levels[3])
        case ("ibeacon-rooms", 4) where levels[2] == "tag" && Self.isName(levels[3]):
            self = .tag(site: levels[1], tag: levels[3])
        case ("ibeacon-rooms", 4) where levels[2] == "room" && Self.isName(levels[3]):
            self = .room(site: levels[1], room: levels[3])
        case ("ibeacon-rooms", 4) where levels[2] == "health" && Self.isName(levels[3]):
            self = .health(site: levels[1], gateway: levels[3])
        case ("ibeacon-rooms", 4) where levels[2] == "phones" && Self.isName(levels[3]):
            self = .phones(site: levels[1], gateway: levels[3])
        case ("ibeacon-gateway", 3) where levels[2] == "availability" && Self.isName(levels[1]):
            self = .availability(gateway: levels[1])
        case ("espresense", 4) where levels[1] == "rooms" && levels[3] == "status" && Self.isName(levels[2]):
            self = .espresenseStatus(node: levels[2])
        case ("espresense", 4) where levels[1] == "rooms" && levels[3] == "telemetry" && Self.isName(levels[2]):
            self = .espresenseTelemetry(node: levels[2])
        case ("espresense", 4) where levels[1] == "devices" && Self.isName(levels[3]):
            if let beacon = Self.beacon(levels[2]) {
                self = .espresense(beacon, node: levels[3])
            } else {
                guard Self.isName(levels[2]) else { return nil }
                self = .espresenseAlias(levels[2], node: levels[3])
            }
        case ("espresense", 4) where levels[1] == "settings" && levels[3] == "config":
            guard let beacon = Self.beacon(levels[2]) else { return nil }
            self = .espresenseSettings(beacon)
        default: return nil
        }
    }

    /// The topic's text. Names of sites and gateways are not checked here: `TopicIdentifier` turns any text into a topic level.
    package var text: String {
        switch self {
        case .tags(let site): "ibeacon-rooms/\(site)/tags"
        case .heard(let site, let gateway): "ibeacon-rooms/\(site)/heard/\(gateway)"
        case .card(let site, let gateway): "ibeacon-rooms/\(site)/gateway/\(gateway)"
        case .learn(let site): "ibeacon-rooms/\(site)/learn"
        case .refused(let site): "ibeacon-rooms/\(site)/refused"
        case .answer(let site): "ibeacon-rooms/\(site)/answer"
        case .service(let site, let instance): "ibeacon-rooms/\(site)/service/\(instance)"
        case .tag(let site, let tag): "ibeacon-rooms/\(site)/tag/\(tag)"
        case .room(let site, let room): "ibeacon-rooms/\(site)/room/\(room)"
        case .health(let site, let gateway): "ibeacon-rooms/\(site)/health/\(gateway)"
        case .nearbyRequest(let site): "ibeacon-rooms/\(site)/nearby"
        case .nearby(let site, let gateway): "ibeacon-rooms/\(site)/nearby/\(gateway)"
        case .phones(let site, let gateway): "ibeacon-rooms/\(site)/phones/\(gateway)"
        case .availability(let gateway): "ibeacon-gateway/\(gateway)/availability"
        case .espresense(let beacon, let node): "espresense/devices/\(Self.level(beacon))/\(node)"
        case .espresenseAlias(let alias, let node): "espresense/devices/\(alias)/\(node)"
        case .espresenseSettings(let beacon): "espresense/settings/\(Self.level(beacon))/config"
        case .espresenseStatus(let node): "espresense/rooms/\(node)/status"
        case .espresenseTelemetry(let node): "espresense/rooms/\(node)/telemetry"
        }
    }

    /// The site of the topic; nil for a topic without a site.
    package var site: String? {
        switch self {
        case .tags(let site), .learn(let site), .heard(let site, _), .card(let site, _), .service(let site, _),
            .tag(let site, _), .room(let site, _), .health(let site, _), .nearbyRequest(let site), .nearby(let site, _),
            .phones(let site, _), .refused(let site), .answer(let site):
            site
        default: nil
        }
    }

    /// Whether only the service writes the topic, for others to show: the state of a tag, a room, a gateway or a service.
    package var isState: Bool {
        switch self {
        case .tag, .room, .health, .service: true
        default: false
        }
    }

    /// The gateway that publishes on this topic of the site; nil for any other topic.
    package var sendingGateway: String? {
        switch self {
        case .heard(_, let gateway), .card(_, let gateway), .nearby(_, let gateway), .phones(_, let gateway):
            gateway
        default: nil
        }
    }

    private static func isName(_ level: String) -> Bool { (1...128).contains(level.utf8.count) }

    private static func level(_ beacon: BeaconID) -> String {
        "iBeacon:\("\(beacon.uuid)".lowercased())-\(beacon.major)-\(beacon.minor)"
    }

    /// `iBeacon:<uuid>-<major>-<minor>`
    private static func beacon(_ level: String) -> BeaconID? {
        level.hasPrefix("iBeacon:") ? BeaconID(level.dropFirst(8), separator: "-") : nil
    }
}
