package import Base
package import Beacon
package import OwnTracks
package import Regions

/// Everything that can be set, with every default filled in. `Setting` has a row for each setting: how it is read, shown
/// and explained to the user.
package struct Configuration: Hashable, Sendable {
    /// The most elements of `trackers`. `setConfiguration` may bring as many as fit into a message.
    package static let mostTrackers = 1_000
    /// The most regions of all trackers together.
    package static let mostRegions = 50_000

    package var broker: Broker
    /// The identities on this radio, never empty; the first is the gateway's own.
    package var trackers: [TrackerConfiguration]
    /// The position of the gateway.
    package var position = Position(coordinates: Coordinates(latitude: 0, longitude: 0), accuracy: 10)
    package var monitoring = MonitoringMode.significant
    /// The longest time without a location in significant and in move mode; nil for no limit.
    package var ping: Duration? = .seconds(15 * 60)
    /// The same in move mode for a tracker that is inside a region.
    package var locatorInterval: Duration? = .seconds(300)
    /// Whether commands are obeyed.
    package var obeysCommands = true
    /// Whether `setConfiguration` is obeyed, too.
    package var allowsRemoteConfiguration = false
    /// The time in which the broker must accept a connection with remote settings. After it the old ones come back.
    package var remoteTrial = Duration.seconds(60)
    /// A word for every location.
    package var tag: String?
    /// Whether beacon messages are published.
    package var ranging = false
    /// The least time between two beacon messages about one beacon.
    package var rangingInterval = Duration.seconds(5)
    package var scanner = ScannerChoice.auto
    /// The adapters to listen with; all of them if empty.
    package var adapters: [AdapterName] = []
    /// Share of the time in which the radio listens, 0.05 … 1; nil for automatic.
    package var scanDuty: Double?
    /// The bits of major and minor that hold a tag's battery, and not its identity.
    package var batteryMasks = BatteryMasks()
    /// For regions without a rule of their own.
    package var leaveRule = LeaveRule.auto
    /// For regions without one of their own; nil for any strength.
    package var enterRSSI: RSSI?
    /// For regions without one of their own; nil: only silence ends a visit.
    package var leaveRSSI: RSSI?
    package var homeAssistant = HomeAssistantSettings()
    /// The name of the room in which this gateway is.
    package var room: String
    /// The same if the user named it; nil if it is the default.
    package var namedRoom: String? { room.hasSameBytes(as: trackers[0].derivedRoom) ? nil : room }
    /// nil if this gateway publishes no readings for a rooms service.
    package var rooms: RoomsSettings? = RoomsSettings(site: "home")
    /// Where the status page is served; nil if it is not served.
    package var statusPage: ListenAddress? = .gateway
    /// Days for which history is kept; 0 keeps none. Below 0 only the number of entries is limited, as in the iOS app.
    package var historyDays = 30
    package var numberBase = NumberBase.auto
    /// Published on `/info`; nil for no card.
    package var card: Card?
    /// Whether transitions are sent again for occupied regions after Home Assistant or the broker has forgotten them.
    package var reannounces = false
    /// Settings that work but may not be intended, in words.
    package internal(set) var warnings: [ConfigurationProblem] = []

    /// Whether transitions are kept at all.
    package var keepsHistory: Bool { historyDays != 0 }

    /// The oldest time that history keeps, epoch seconds; nil if days are not limited.
    ///
    /// - Parameter now: Epoch seconds.
    package func historyBegin(at now: Int64) -> Int64? { Self.historyBegin(historyDays, at: now) }

    /// The same for a history of this many days.
    package static func historyBegin(_ days: Int, at now: Int64) -> Int64? {
        days < 0 ? nil : now - Int64(days) * 86_400
    }

    /// The topics of the rooms service of a site: those of an OwnTracks device `rooms-<site>`.
    package func topics(ofService rooms: RoomsSettings) throws(TopicError) -> Topics {
        try Topics(base: "owntracks/\(trackers[0].username ?? "user")/rooms-\(rooms.site)")
    }

    /// The longest key of OwnTracks' encryption in bytes.
    package static let longestEncryptionKey = 32

    /// Days for which the rooms service keeps its history, as `historyDays`.
    package var roomHistoryDays: Int { rooms?.historyDays ?? historyDays }
}

/// One identity: an OwnTracks device of its own.
package struct TrackerConfiguration: Hashable, Sendable {
    /// In every message.
    @ExactString package var trackerID: String
    /// `%u`; nil if none was given, and topics contain `user`.
    package var username: String?
    /// `%d`
    @ExactString package var deviceID: String
    /// What Home Assistant calls it; nil for user and device.
    package var name: String?
    package var topics: Topics
    /// Put into leave transitions instead of the gateway's own position.
    package var away: Position?
    /// At most `longestEncryptionKey` bytes.
    package var encryptionKey: SecretSetting
    /// Merged by `rid` at every start and reload.
    package var waypoints: WaypointsReading

    /// The default client id, as the apps make it: user and device, letters and digits only.
    var derivedClientID: String {
        let letters = ((username ?? "user") + deviceID).unicodeScalars.filter {
            switch $0 {
            case "0"..."9", "a"..."z", "A"..."Z": true
            default: false
            }
        }
        return letters.isEmpty ? "ibeacongateway" : String(String.UnicodeScalarView(letters))
    }

    /// Whether the topics follow from user and device.
    var hasDerivedTopics: Bool { topics.base.hasSameBytes(as: "owntracks/\(username ?? "user")/\(deviceID)") }

    /// The default room of a gateway.
    var derivedRoom: String { String(deviceID.prefix(64)) }
}

/// A way to Bluetooth.
package enum ScannerChoice: Hashable, Sendable {
    case auto, mgmt, hci, bluez
    /// A recording, played once in real time (times `speed`), then silence. A relative path starts at the configuration file.
    case capture(file: String, speed: Double)

    /// Those that are named by a word alone.
    static let ways: [ScannerChoice] = [.auto, .mgmt, .hci, .bluez]

    /// The name in the configuration; for a recording without its path.
    package var name: String { if case .capture = self { "capture" } else { "\(self)" } }
}

/// How a user names an adapter.
package enum AdapterName: Hashable, Sendable {
    /// `hciN`
    case index(UInt16)
    case address(UInt64)
}

/// MQTT discovery for Home Assistant.
package struct HomeAssistantSettings: Hashable, Sendable {
    package var discovery = false
    package var prefix = "homeassistant"
}

/// The site in which several gateways decide together where a tag is.
package struct RoomsSettings: Hashable, Sendable {
    /// A level of topics: 1 to 64 of the characters A-Z, a-z, 0-9, `_` and `-`.
    package var site: String
    /// The name of this machine's rooms service among those of the site, a level of topics, too; nil for the name of
    /// the machine.
    package var instance: String?
    /// The tags of the configuration, as a merge of regions. Each region names a beacon.
    package var tags: [RegionChange] = []
    /// The rooms of gateways, sorted by gateway.
    package var gateways: [GatewayRoom] = []
    /// Whether the gateway also publishes what it hears of the tags as an ESPresense node does.
    package var actsAsESPresenseNode = false
    /// Whether the rooms service publishes the room of each tag as ESPresense nodes would.
    package var publishesVirtualNodes = false
    /// Days for which the history of rooms is kept; nil for those of the gateway.
    package var historyDays: Int?
    /// Where the page of the rooms service is served; nil if it is not served.
    package var statusPage: ListenAddress? = .rooms
    /// The site's key. With it, everything published for the site is encrypted, and unencrypted messages are refused.
    /// At most `longestEncryptionKey` bytes; all gateways and services of a site have the same key.
    package var encryptionKey = SecretSetting.absent
    /// Whether the service publishes the states of tags, rooms, gateways and itself unencrypted, although the site has a key.
    package var publishesPlainState = false

    /// The room in which a gateway is.
    package struct GatewayRoom: Hashable, Sendable {
        package var gateway: String
        /// 1 to `mostRoomNameBytes` bytes.
        package var room: String
    }

    /// The longest name of a room in bytes, like any name in the messages of a site.
    package static let mostRoomNameBytes = 128

    /// Whether the site has a key, in the configuration or in a file.
    package var hasKey: Bool { encryptionKey != .absent }
}

/// Where a server listens.
package struct ListenAddress: Hashable, Sendable {
    /// A host name or address; an IPv6 address has no brackets.
    package var host: String
    package var port: UInt16

    /// The default of the gateway's status page.
    package static let gateway = ListenAddress(host: "127.0.0.1", port: 8080)
    /// The default of the rooms service's page.
    package static let rooms = ListenAddress(host: "127.0.0.1", port: 8081)
}
