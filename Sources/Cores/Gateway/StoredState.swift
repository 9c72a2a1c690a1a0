package import Base
package import Configuration
package import JSON
package import OwnTracks
package import Regions

/// The state that the store had when it was opened.
package struct StoredState: Sendable {
    /// The configuration in force: the file, with the stored settings of `setConfiguration` over it.
    package var configuration: Configuration
    /// The regions of each tracker, in the order of the configuration.
    package var regions: [RegionSet]
    /// The topic under which the state of each tracker is stored, in the order of the configuration: another one than
    /// the tracker's own if the settings changed while the service did not run. Empty: all have their own.
    package var topics: [String]
    /// The stored monitoring mode of each tracker; nil: none is stored.
    package var monitoring: [KeptMonitoring?]
    /// What is stored of trackers that the configuration does not contain.
    package var removed: [RemovedTracker]
    package var presence: Presence
    /// The stored settings of `setConfiguration`.
    package var remoteSettings: JSONValue?
    /// The value of `Gateway.servedTopicsKey`: the topics that the service stored last for the command line.
    package var servedTopics: [UInt8]?
    /// The value of `Gateway.servedDevicesKey`; nil: an earlier version stored the topics.
    package var servedDevices: [UInt8]?
    /// The value of `Gateway.servedHardwareKey`; nil: the hardware was not known, or an earlier version stored the devices.
    package var servedHardware: [UInt8]?
    /// What tells the present hardware from any other; nil: not known.
    package var hardware: [UInt8]?
    /// The value of `Gateway.removedTopicsKey`.
    package var removedTopics: [UInt8]?
    /// The value of `Gateway.lowBatteriesKey`.
    package var lowBatteries: [UInt8]?
    /// The value of `AppliedCommands.storeKey` of each tracker, in the order of the configuration.
    package var appliedCommands: [AppliedCommands]
    /// The value of `ObeyedEnvelopes.storeKey`.
    package var obeyedEnvelopes: ObeyedEnvelopes
    /// The value of `Gateway.pendingClearKey` of each tracker, in the order of the configuration.
    package var pendingClears: [Set<ExactString>]
    /// The value of `PhoneTimes.storeKey`.
    package var phonesHeard: [UInt8]?
    /// Members for the answer to `status`: the program's version and the like.
    package var about: [String: JSONValue]

    package enum Presence: Sendable {
        /// No presence is stored; every beacon enters again.
        case unknown
        /// `isSameBoot`: instants in it are of this boot's clock.
        case kept(KeptPresence, isSameBoot: Bool)
        /// The occupancy of each tracker by `rid`, for a command that reports and does not listen.
        case occupied([[ExactString: Occupancy]])
    }

    package init(
        configuration: Configuration, regions: [RegionSet], topics: [String] = [], monitoring: [KeptMonitoring?] = [],
        removed: [RemovedTracker] = [], presence: Presence = .unknown, remoteSettings: JSONValue? = nil,
        servedTopics: [UInt8]? = nil, servedDevices: [UInt8]? = nil, servedHardware: [UInt8]? = nil,
        hardware: [UInt8]? = nil, removedTopics: [UInt8]? = nil, lowBatteries: [UInt8]? = nil,
        appliedCommands: [AppliedCommands] = [], obeyedEnvelopes: ObeyedEnvelopes = ObeyedEnvelopes(),
        pendingClears: [Set<ExactString>] = [], phonesHeard: [UInt8]? = nil,
        about: [String: JSONValue] = [:]
    ) {
        self.configuration = configuration
        self.regions = regions
        self.topics = topics
        self.monitoring = monitoring
        self.removed = removed
        self.presence = presence
        self.remoteSettings = remoteSettings
        self.servedTopics = servedTopics
        self.servedDevices = servedDevices
        self.servedHardware = servedHardware
        self.hardware = hardware
        self.removedTopics = removedTopics
        self.lowBatteries = lowBatteries
        self.appliedCommands = appliedCommands
        self.obeyedEnvelopes = obeyedEnvelopes
        self.pendingClears = pendingClears
        self.phonesHeard = phonesHeard
        self.about = about
    }
}

extension StoredState.Presence {
    /// Who is inside by a stored presence, for a command that reports and does not listen.
    ///
    /// - Parameter topics: The base topics of the trackers, in the order of the configuration.
    package static func reported(by kept: KeptPresence, of topics: [String]) -> Self {
        var inside: [Int: [ExactString: Occupancy]] = [:]
        for stored in kept.occupancies where !stored.isOutside {
            // Circles follow from the position.
            guard let beacon = stored.beacon else { continue }
            inside[stored.tracker, default: [:]][ExactString(stored.rid)] = Occupancy(
                since: stored.since, beacon: beacon, rssi: stored.rssi)
        }
        return .occupied(
            topics.map { topic in
                let index = kept.trackers.firstIndex { $0.hasSameBytes(as: topic) }
                return index.flatMap { inside[$0] } ?? [:]
            })
    }
}

extension StoredState {
    /// Whether this hardware served the devices; nil: not known.
    package var isOnSameHardware: Bool? { servedHardware.flatMap { served in hardware.map { $0 == served } } }

    /// Whether this may be a copy of the state of another gateway that still runs: both the hardware and the gateway's device differ. A
    /// gateway that was moved and renamed looks the same.
    var isCopy: Bool {
        guard isOnSameHardware == false, let served = Self.texts(servedDevices).first,
            let own = configuration.trackers.first
        else { return false }
        return !own.deviceID.hasSameBytes(as: served)
    }

    /// The `deviceId` with which the gateway ran last; nil: it has not run, or an earlier version did.
    package var servedDevice: String? { Self.texts(servedDevices).first }

    /// The topics that were served last, each with its device.
    var served: Zip2Sequence<[String], [String]> { zip(Self.texts(servedTopics), Self.texts(servedDevices)) }

    /// The texts of a stored JSON array.
    private static func texts(_ bytes: [UInt8]?) -> [String] {
        bytes.flatMap { try? JSONValue(parsing: $0) }?.array?.compactMap(\.string) ?? []
    }
}
