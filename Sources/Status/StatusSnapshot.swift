package import Base
package import Beacon
package import Gateway
package import Presence

/// All that a person or a machine may want to know of the running gateway at one moment.
///
/// The status page, `/status.json`, `/metrics`, `status` on the command line and the answer to
/// OwnTracks' `status` command are made of this value and of nothing else, so that they cannot disagree.
package struct StatusSnapshot: Sendable {
    /// When it was taken. Every other instant in here lies before it, deadlines excepted.
    package var now: MonotonicInstant
    package var wallClock: WallClock
    /// The version of the program.
    package var version: String
    /// The gateway's own name (`deviceId`).
    package var device: String
    package var startedAt: MonotonicInstant
    package var scanner = ScannerState()
    /// One for each connection: trackers with a login of their own have one of their own.
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
    /// What was not taken for want of room, since the start.
    package var overflow = OverflowState()
    /// Malformed advertising data by kind, whichever adapter heard it.
    package var malformed = MalformedCounters()
    /// What the process uses of the machine; nil where that is not known.
    package var process: ProcessState?
    /// What `doctor` would say, the worst first.
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
    /// The way into Linux Bluetooth and the radios on it.
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
        /// Reports known to have been lost before they reached us.
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
        /// Why it is not connected, or what is wrong although it is, in words; empty if all is well. It never holds a
        /// secret.
        package var reason: String
        /// What to do about it, if that is known.
        package var cure = ""
        package var since: MonotonicInstant?
        /// When the next attempt begins; nil unless one is waited for.
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
        /// Messages that the broker refused for good; a person must look at them.
        package var setAside = 0
        /// Messages given up for want of room, since the start.
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

    /// What came faster or in greater number than there is room for.
    package struct OverflowState: Hashable, Sendable {
        /// iBeacon frames of beacons that belong to a region, beyond as many as are remembered.
        package var sightings: UInt64 = 0
        /// Messages from the broker that were too large or too many at once; counted anew for each connection's settings.
        package var incoming: UInt64 = 0
        /// A region of which beacons were turned away of late.
        package var crowded: CrowdedRegion?

        package init(sightings: UInt64 = 0, incoming: UInt64 = 0, crowded: CrowdedRegion? = nil) {
            self.sightings = sightings
            self.incoming = incoming
            self.crowded = crowded
        }
    }

    /// What the process uses of the machine.
    package struct ProcessState: Hashable, Sendable {
        /// Of user and kernel together, since the start.
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
        /// What a person calls it; nil: it was given no name.
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
        /// The name as transitions show it. It came over MQTT or from a file: any text.
        package var name: String
        /// The whole description, `name:UUID[:major[:minor]]`.
        package var description: String
        package var isInside: Bool
        /// The last enter or leave; nil if there was none.
        package var since: MonotonicInstant?
        /// The strongest beacon inside, or the one heard last.
        package var beacon: BeaconID?
        package var rssi: RSSI?
        /// Metres, estimated from the measured power.
        package var distance: Double?
        package var lastHeard: MonotonicInstant?
        /// When it will be left if nothing more is heard.
        package var leaveDeadline: MonotonicInstant?
        /// Why it is as it is, in a sentence.
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
        /// The regions that it belongs to.
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

    /// One thing that was looked at, and what to do if it is not well.
    package struct Finding: Hashable, Sendable {
        package enum Level: String, CaseIterable, Sendable { case ok, warning, error }

        package var level: Level
        /// What was looked at: `adapter`, `broker`, `clock` …
        package var subject: String
        package var text: String
        /// What to do; empty if nothing is to be done.
        package var cure: String

        package init(_ level: Level, _ subject: String, _ text: String, cure: String = "") {
            self.level = level
            self.subject = subject
            self.text = text
            self.cure = cure
        }
    }
}
