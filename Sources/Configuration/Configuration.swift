package import Base
package import Beacon
package import OwnTracks
package import Regions

/// Everything that can be set, with every default filled in. How it is read: `ConfigurationReader`;
/// what each member means to its user: `ConfigurationMember`.
package struct Configuration: Hashable, Sendable {
    package var broker: Broker
    /// The identities on this radio, never empty; the first is the gateway's own.
    package var trackers: [TrackerConfiguration]
    /// Where the gateway stands.
    package var position: Position
    package var monitoring: MonitoringMode
    /// The longest time without a location in significant and in move mode; nil: no limit.
    package var ping: Duration?
    /// The same in move mode for a tracker that is inside a region.
    package var locatorInterval: Duration?
    /// Commands are obeyed.
    package var obeysCommands: Bool
    /// `setConfiguration` is obeyed too.
    package var allowsRemoteConfiguration: Bool
    /// How long the broker may take with settings from afar before the old ones come back.
    package var remoteTrial: Duration
    /// Put into every location.
    package var tag: String?
    /// Beacon messages are published.
    package var ranging: Bool
    /// The least time between two beacon messages about one beacon.
    package var rangingInterval: Duration
    package var scanner: ScannerChoice
    /// The adapters to listen with; empty: all.
    package var adapters: [AdapterName]
    /// For regions that have no rule of their own.
    package var leaveRule: LeaveRule
    /// For regions that have none of their own; nil: any strength.
    package var enterRSSI: RSSI?
    /// For regions that have none of their own; nil: only silence ends a visit.
    package var leaveRSSI: RSSI?
    package var homeAssistant: HomeAssistantSettings
    /// Where this gateway stands, by its name.
    package var room: String
    /// nil: this gateway publishes no readings for a rooms service.
    package var rooms: RoomsSettings?
    /// Where the status page is served; nil: nowhere.
    package var statusPage: ListenAddress?
    /// Days for which history is kept; 0 keeps none. Below 0, days are no limit, as in the iOS app: the number of
    /// entries alone is one.
    package var historyDays: Int
    package var numberBase: NumberBase
    /// Published on `/info` if there is one.
    package var card: Card?
    /// Transitions are sent again for occupied regions after Home Assistant or the broker
    /// has forgotten them.
    package var reannounces: Bool
    /// What works but may not be meant, in words.
    package internal(set) var warnings: [ConfigurationProblem]

    /// Whether transitions are kept at all.
    package var keepsHistory: Bool { historyDays != 0 }

    /// The oldest time that history keeps, epoch seconds; nil where days are no limit.
    ///
    /// - Parameter now: Epoch seconds.
    package func historyBegin(at now: Int64) -> Int64? { Self.historyBegin(historyDays, at: now) }

    /// The same for a history that is kept for this many days.
    package static func historyBegin(_ days: Int, at now: Int64) -> Int64? {
        days < 0 ? nil : now - Int64(days) * 86_400
    }

    /// Days for which the rooms service keeps its history, as `historyDays`.
    package var roomHistoryDays: Int { rooms?.historyDays ?? historyDays }
}

/// How to reach the broker and what to agree on with it.
package struct Broker: Hashable, Sendable {
    /// Messages are posted there over HTTP, and there is no MQTT; nil: `hosts` and `port` have an MQTT broker.
    package var endpoint: Endpoint?
    /// Names or addresses, tried in turn; never empty.
    package var hosts: [String]
    /// 0: offline. Everything works and is kept in the history, nothing is sent.
    package var port: UInt16
    package var tls: Bool
    /// Path; nil: the system's certificates.
    package var caFile: String?
    package var clientCertificateFile: String?
    package var clientKeyFile: String?
    /// The login; nil: none.
    package var username: String?
    package var password: Secret?
    /// Path of a file whose first line is the password.
    package var passwordFile: String?
    @ExactString package var clientID: String
    package var keepalive: Duration
    package var cleanSession: Bool
    /// With `v5`, 3.1.1 is spoken with a broker that does not speak 5.
    package var protocolLevel: MQTTProtocolLevel
    /// 0, 1 or 2, for all that is published.
    package var qos: UInt8
    /// Locations are retained. Nothing else of OwnTracks ever is, but the card.
    package var retainsLocations: Bool
    /// `/waypoint` is published unasked when a region changes.
    package var publishesWaypoints: Bool

    package var isOffline: Bool { port == 0 && endpoint == nil }
}

/// One identity: an OwnTracks device of its own.
package struct TrackerConfiguration: Hashable, Sendable {
    /// In every message.
    @ExactString package var trackerID: String
    /// `%u`; nil: none was given, and `user` stands in topics.
    package var username: String?
    /// `%d`
    @ExactString package var deviceID: String
    /// What Home Assistant calls it; nil: user and device.
    package var name: String?
    package var topics: Topics
    /// Put into leave transitions instead of the gateway's own position.
    package var away: Position?
    /// At most 32 bytes.
    package var encryptionKey: Secret?
    /// Path of a file whose first line is the key.
    package var encryptionKeyFile: String?
    /// Merged by `rid` at every start and reload.
    package var waypoints: WaypointsReading
}

/// How much is reported.
package enum MonitoringMode: Int, Hashable, Sendable, CaseIterable {
    /// Nothing is published but locations by hand.
    case quiet = -1
    /// Region events, and locations by hand.
    case manual = 0
    /// Besides, a location each `ping`, and when it is asked for.
    case significant = 1
    /// Besides, a location each `locatorInterval` while a tracker is inside a region.
    case move = 2
}

/// Versions of MQTT, by the number that goes over the wire.
package enum MQTTProtocolLevel: UInt8, Hashable, Sendable, CaseIterable {
    case v3_1 = 3
    case v3_1_1 = 4
    case v5 = 5
}

/// A way to Bluetooth.
package enum ScannerChoice: Hashable, Sendable {
    case auto, mgmt, hci, bluez
    /// A recording, played once in real time (times `speed`), then silence. A relative path counts from
    /// the configuration file.
    case capture(file: String, speed: Double)
}

/// How a user names an adapter.
package enum AdapterName: Hashable, Sendable {
    /// `hciN`
    case index(UInt16)
    case address(UInt64)
}

/// MQTT discovery for Home Assistant.
package struct HomeAssistantSettings: Hashable, Sendable {
    package var discovery: Bool
    package var prefix: String
}

/// The house or site in which many gateways decide together where a tag is.
package struct RoomsSettings: Hashable, Sendable {
    /// A level of topics: 1 to 64 of the characters A-Z, a-z, 0-9, `_` and `-`.
    package var site: String
    /// What the rooms service of this machine is called among those of the site, a level of topics too; nil: as the
    /// machine.
    package var instance: String?
    /// Days for which the history of rooms is kept; nil: as long as that of the gateway.
    package var historyDays: Int?
    /// Where the page of the rooms service is served; nil: nowhere.
    package var statusPage: ListenAddress? = ListenAddress(host: "127.0.0.1", port: 8081)
}

/// Where a server listens.
package struct ListenAddress: Hashable, Sendable {
    /// A host name or address, an IPv6 one without its brackets.
    package var host: String
    package var port: UInt16
}
