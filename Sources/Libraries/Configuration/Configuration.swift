import Base
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
    /// The floor of that room, -9 … 99, 0 for the ground floor; nil: it is not said.
    package var floor: Int?
    /// nil if this gateway publishes no readings for a rooms service.
    package var rooms: RoomsSettings? = RoomsSettings(site: "home")
    /// Where the status page is served; nil if it is not served.
    package var statusPage: ListenAddress? = .gateway
    /// nil if Home Assistant hears nothing through this gateway's radio.
    package var bluetoothProxy: BluetoothProxySettings?
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
