package import Base
package import Beacon
package import Gateway
package import Presence

/// The state of the running gateway at one moment.
///
/// The status page, `/status.json`, `/metrics` and `status` on the command line show only this value, so that they
/// cannot disagree. `StatusMonitor` (target Service) fills it. The answer to OwnTracks' `status` command is made by the
/// core (`Gateway+Announcements.swift`).
package struct StatusSnapshot: Sendable {
    /// When the snapshot was made. Every other instant lies before it, except deadlines.
    package var now: MonotonicInstant
    package var wallClock: WallClock
    /// The version of the program.
    package var version: String
    /// The gateway's own name (`deviceId`).
    package var device: String
    package var startedAt: MonotonicInstant
    package var scanner = ScannerState()
    /// One element for each connection.
    package var brokers: [BrokerState] = []
    package var queue = QueueState()
    package var store = StoreState()
    /// In the order of the configuration; the first is the gateway's own.
    package var trackers: [TrackerState] = []
    /// The strongest first.
    package var beacons: [BeaconState] = []
    /// The newest first.
    package var transitions: [TransitionRecord] = []
    package var counters = Counters()
    /// Data that was dropped because of a limit, since the start.
    package var overflow = OverflowState()
    /// Malformed advertising data of all adapters, by kind.
    package var malformed = MalformedCounters()
    /// The resources of the process; nil if they are not known.
    package var process: ProcessState?
    /// The findings of the health check, the worst first.
    package var findings: [Finding] = []

    package init(
        now: MonotonicInstant, wallClock: WallClock, version: String, device: String, startedAt: MonotonicInstant
    ) {
        self.now = now
        self.wallClock = wallClock
        self.version = version
        self.device = device
        self.startedAt = startedAt
    }
}

extension StatusSnapshot {
    /// The scanner and its radios.
    package struct ScannerState: Hashable, Sendable {
        /// `mgmt`, `hci`, `bluez` or `capture`.
        package var name = ""
        package var adapters: [Adapter] = []

        package init(name: String = "", adapters: [Adapter] = []) {
            self.name = name
            self.adapters = adapters
        }
    }

    /// One radio.
    package struct Adapter: Hashable, Sendable {
        /// `hci0`, or the name of a recording.
        package var name: String
        package var isListening: Bool
        /// Advertising reports since the start.
        package var reports: UInt64 = 0
        /// Advertising reports in each second of the last minute or so.
        package var reportsPerSecond: Double = 0
        package var malformed: UInt64 = 0
        /// Reports that were lost before the gateway received them, as far as known.
        package var lost: UInt64 = 0
        /// How often scanning had to be started again.
        package var restarts: UInt64 = 0
        /// Share of the time in which the radio listens (0 … 1), if known.
        package var duty: Double?
        package var lastHeard: MonotonicInstant?

        package init(name: String, isListening: Bool) {
            self.name = name
            self.isListening = isListening
        }
    }

    /// A connection to an MQTT broker.
    package struct BrokerState: Hashable, Sendable {
        package enum Phase: String, CaseIterable, Sendable {
            case connected, connecting, disconnected
            /// Port 0: everything is kept, nothing is sent.
            case offline
        }

        package var name: String
        package var phase: Phase
        /// Why there is no connection, or why the connection does not work, in words; empty if all is well. It never
        /// contains a secret.
        package var reason: String
        /// What to do; empty if that is not known.
        package var cure = ""
        package var since: MonotonicInstant?
        /// When the next attempt begins; nil if none is planned.
        package var nextTry: MonotonicInstant?

        package init(name: String, phase: Phase, reason: String = "", since: MonotonicInstant? = nil) {
            self.name = name
            self.phase = phase
            self.reason = reason
            self.since = since
        }
    }

    /// Messages on their way to the broker.
    package struct QueueState: Hashable, Sendable {
        package var pending = 0
        /// Messages that the broker refused for good; a person must decide about them.
        package var setAside = 0
        /// Messages dropped because of a limit, since the start.
        package var dropped: UInt64 = 0
        /// Messages that the broker acknowledged, since the start.
        package var sent: UInt64 = 0

        package init(pending: Int = 0, setAside: Int = 0, dropped: UInt64 = 0, sent: UInt64 = 0) {
            self.pending = pending
            self.setAside = setAside
            self.dropped = dropped
            self.sent = sent
        }
    }

    /// The database on disk.
    package struct StoreState: Hashable, Sendable {
        /// Why nothing can be written; nil if all is well.
        package var problem: String?
        /// Transactions written since the start.
        package var writes: UInt64 = 0

        package init(problem: String? = nil, writes: UInt64 = 0) {
            self.problem = problem
            self.writes = writes
        }
    }

    /// Data that exceeded a limit.
    package struct OverflowState: Hashable, Sendable {
        /// iBeacon frames of beacons that belong to a region and were not remembered.
        package var sightings: UInt64 = 0
        /// Messages from the broker that were too large or too many at once, since the settings of the connection
        /// changed.
        package var incoming: UInt64 = 0
        /// The region whose beacons were turned away recently.
        package var crowded: CrowdedRegion?

        package init(sightings: UInt64 = 0, incoming: UInt64 = 0, crowded: CrowdedRegion? = nil) {
            self.sightings = sightings
            self.incoming = incoming
            self.crowded = crowded
        }
    }

    /// The resources that the process uses.
    package struct ProcessState: Hashable, Sendable {
        /// User and kernel time, since the start.
        package var processorTime: Duration
        package var residentBytes: UInt64
        package var openDescriptors: Int

        package init(processorTime: Duration, residentBytes: UInt64, openDescriptors: Int) {
            self.processorTime = processorTime
            self.residentBytes = residentBytes
            self.openDescriptors = openDescriptors
        }
    }

    /// One identity with its regions.
    package struct TrackerState: Sendable {
        package var tid: String
        /// The base topic.
        package var topic: String
        /// The last part of the topic (`deviceId`): names the tracker outside OwnTracks' tree.
        package var device: String
        /// OwnTracks' `monitoring`, −1 … 2; −1 sends no events.
        package var monitoring: Int
        /// The name for people; nil: none is set.
        package var name: String?
        package var regions: [RegionState]

        package init(
            tid: String, topic: String, device: String, monitoring: Int = 1, name: String? = nil,
            regions: [RegionState] = []
        ) {
            self.tid = tid
            self.topic = topic
            self.device = device
            self.monitoring = monitoring
            self.name = name
            self.regions = regions
        }
    }

    /// One region of one tracker.
    package struct RegionState: Sendable {
        package var rid: String
        /// The name as in transitions. It came over MQTT or from a file and may be any text.
        package var name: String
        /// The whole description, `name:UUID[:major[:minor]]`.
        package var description: String
        package var isInside: Bool
        /// The last enter or leave; nil if there was none.
        package var since: MonotonicInstant?
        /// The strongest beacon inside, or the beacon heard last.
        package var beacon: BeaconID?
        package var rssi: RSSI?
        /// Metres, estimated from the measured power.
        package var distance: Double?
        package var lastHeard: MonotonicInstant?
        /// When the region is left if no beacon is heard again.
        package var leaveDeadline: MonotonicInstant?
        /// Why the region is occupied or not, in a sentence.
        package var explanation: String

        package init(
            rid: String, name: String, description: String, isInside: Bool, since: MonotonicInstant? = nil,
            beacon: BeaconID? = nil, rssi: RSSI? = nil, distance: Double? = nil, lastHeard: MonotonicInstant? = nil,
            leaveDeadline: MonotonicInstant? = nil, explanation: String = ""
        ) {
            self.rid = rid
            self.name = name
            self.description = description
            self.isInside = isInside
            self.since = since
            self.beacon = beacon
            self.rssi = rssi
            self.distance = distance
            self.lastHeard = lastHeard
            self.leaveDeadline = leaveDeadline
            self.explanation = explanation
        }
    }

    /// One beacon heard in the last minutes.
    package struct BeaconState: Sendable {
        package var id: BeaconID
        package var measuredPower: MeasuredPower
        package var rssi: RSSI?
        /// Metres, estimated from the measured power.
        package var distance: Double?
        /// The usual gap between two sightings; nil until it is known.
        package var interval: Duration?
        package var lastHeard: MonotonicInstant
        package var sightings: UInt64
        /// The strongest signal in each step of `BeaconLog.step`, the oldest first; nil: not heard.
        package var series: [RSSI?]
        /// The regions that the beacon belongs to.
        package var regions: [RegionKey]

        package init(
            id: BeaconID, measuredPower: MeasuredPower, rssi: RSSI?, distance: Double? = nil, interval: Duration? = nil,
            lastHeard: MonotonicInstant, sightings: UInt64 = 1, series: [RSSI?] = [], regions: [RegionKey] = []
        ) {
            self.id = id
            self.measuredPower = measuredPower
            self.rssi = rssi
            self.distance = distance
            self.interval = interval
            self.lastHeard = lastHeard
            self.sightings = sightings
            self.series = series
            self.regions = regions
        }
    }

    /// One enter or leave that was decided.
    package struct TransitionRecord: Sendable {
        package var at: MonotonicInstant
        package var tid: String
        package var name: String
        package var rid: String
        package var isEnter: Bool
        package var beacon: BeaconID?

        package init(
            at: MonotonicInstant, tid: String, name: String, rid: String, isEnter: Bool, beacon: BeaconID? = nil
        ) {
            self.at = at
            self.tid = tid
            self.name = name
            self.rid = rid
            self.isEnter = isEnter
            self.beacon = beacon
        }
    }

    /// One result of the health check, and what to do if it is bad.
    package struct Finding: Hashable, Sendable {
        package enum Level: String, CaseIterable, Sendable { case ok, warning, error }

        package var level: Level
        /// What was checked: `adapter`, `broker`, `clock` …
        package var subject: String
        package var text: String
        /// What to do; empty if nothing.
        package var cure: String

        package init(_ level: Level, _ subject: String, _ text: String, cure: String = "") {
            self.level = level
            self.subject = subject
            self.text = text
            self.cure = cure
        }
    }
}
