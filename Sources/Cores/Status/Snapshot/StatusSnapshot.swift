package import Base
package import Beacon
package import Gateway
package import Health
package import JSON
package import OwnTracks
import Presence
package import Regions

/// The state of the running gateway at one moment.
///
/// The status page, `/status.json`, `/metrics` and `status` on the command line show only this value, so that they
/// cannot disagree. `StatusMonitor` (target GatewayApp) fills it. The answer to OwnTracks' `status` command is made by the
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
    /// What brokers and servers refuse.
    package var brokerRefusals = RefusalRecord()
    package var queue = QueueState()
    package var store = StoreState()
    /// Whether the gateway sends the readings of a site's tags, or may do so as soon as the site's list arrives. Then it needs no
    /// regions of its own.
    package var servesSite = false
    /// In the order of the configuration; the first is the gateway's own.
    package var trackers: [TrackerStatus] = []
    /// The strongest first.
    package var beacons: [BeaconState] = []
    /// Beacons beyond those in `beacons`, in a snapshot that was read from its JSON.
    package var unlistedBeacons = 0
    /// The batteries that are low, the emptiest first.
    package var lowBatteries: [LowBattery] = []
    /// The newest first.
    package var transitions: [PastTransition] = []
    /// The phones and watches whose keys are known.
    package var phones: [PhoneStatus] = []
    /// The Bluetooth proxies, one for each adapter; empty if they are off.
    package var proxies: [ProxyState] = []
    /// The beacon that the site asks this gateway to send; nil: it asks for none.
    package var ownBeacon: OwnBeacon?
    package var counters = Gateway.Counters()
    /// The last refused commands and waypoints, the newest first.
    package var refusals: [RecentRefusals.Refusal] = []
    /// Data that was dropped because of a limit, since the start.
    package var overflow = OverflowState()
    /// Malformed advertising data of all adapters, by kind.
    package var malformed = MalformedCounters()
    /// The resources of the process; nil if they are not known.
    package var process: ProcessState?
    /// The page of the rooms service, while that runs on this machine; nil: there is none.
    package var roomsPage: (host: String, port: UInt16)?
    /// Why the page is not served although it is wanted, and what to do; nil: nothing is in its way.
    package var pageProblem: (text: String, remedy: String)?
    /// A newer version that apt knows of on this machine; nil: none is known.
    package var newerVersion: String?
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
    /// Marks the regions as stale if no adapter listens.
    package mutating func markStale() {
        let isStale = !scanner.adapters.contains { $0.isListening }
        for tracker in trackers.indices {
            for region in trackers[tracker].regions.indices { trackers[tracker].regions[region].isStale = isStale }
        }
    }

    /// Regions of one tracker in the JSON; occupied regions come first. `regionCount` is the number of all regions.
    package static let listedRegions = 500
    /// The same for so many trackers: the list of all trackers together is bounded, too.
    package static func listedRegions(ofTrackers count: Int) -> Int {
        min(listedRegions, max(5, 5_000 / max(1, count)))
    }
    package static let listedBeacons = 200
    package static let listedTransitions = 100

    /// The JSON of `/status.json`, the live events and `status --json`.
    ///
    /// Times are ages in seconds (`…Ago`), because the time of day may be unknown. `time` is in epoch seconds, or null
    /// if unknown. Signals are dBm, distances metres.
    package var json: JSONValue {
        [
            "version": .string(version),
            "device": .string(device),
            "time": wallClock.isKnown ? .integer(wallClock.epochSeconds(at: now)) : .null,
            "localTime": .optional(wallClock.localTime(at: now).map { .string("\($0)") }),
            "uptime": .integer(Int64(startedAt.duration(to: now).inSeconds)),
            "scanner": [
                "name": .string(scanner.name),
                "listening": .bool(scanner.adapters.contains { $0.isListening }),
                "scanDuty": .optional(scanner.scanDuty.map { .plain($0) }),
                "problem": .optional(scanner.problem.map { ["text": .shown($0.text), "cure": .shown($0.remedy)] }),
                "adapters": .array(scanner.adapters.map { $0.json(at: now) }),
            ],
            "brokers": .array(brokers.map { $0.json(at: now) }),
            "refusals": brokerRefusals.json(at: now),
            "queue": [
                "pending": .integer(Int64(queue.pending)), "setAside": .integer(Int64(queue.refused)),
                "dropped": .count(queue.dropped), "sent": .count(queue.sent),
            ],
            "store": [
                "ok": .bool(store.problem == nil), "problem": .optional(store.problem.map { .string($0) }),
                "writes": .count(store.writes),
            ],
            "trackers": .array(trackers.map { $0.json(at: now) }),
            "beacons": .array(beacons.prefix(Self.listedBeacons).map { $0.json(at: now) }),
            "beaconCount": .integer(Int64(beacons.count + unlistedBeacons)),
            "transitions": .array(transitions.prefix(Self.listedTransitions).map { $0.json(at: now) }),
            "phones": .array(phones.map { $0.json(at: now) }),
            "bluetoothProxies": .array(proxies.map { $0.json(at: now) }),
            "ownBeacon": .optional(ownBeacon?.json),
            "counters": counters.json, "refusedCommands": .array(refusals.map { $0.json(at: now) }),
            "overflow": ["sightings": .count(overflow.sightings), "incoming": .count(overflow.incoming)],
            "malformed": .count(malformed.total),
            "malformedByKind": .object(
                Dictionary(uniqueKeysWithValues: malformed.byKind.map { ($0.kind.name, .count($0.count)) })),
            "process": process.map(\.json) ?? .null,
            "roomsPage": .optional(
                roomsPage.map { ["host": .string($0.host), "port": .integer(Int64($0.port))] }),
            "findings": .array(findings.map(\.json)),
        ]
    }
}
