import Base
import Beacon
import Configuration
import Gateway
import Health
import Messaging
import OwnTracks
import Presence
import Regions
import Scanning
import Shell
import Status
import Storage

/// Collects the data of the status page, `/metrics` and Home Assistant. It decides nothing. A sighting costs one
/// look-up.
struct StatusMonitor {
    /// Largest number of transitions in the time line.
    private static let mostTransitions = StatusSnapshot.listedTransitions

    private(set) var startedAt: MonotonicInstant
    /// From the start of the process until the service was ready; nil: it is not ready, or the kernel does not say.
    var startTime: Duration?
    private var beacons = BeaconLog()
    private var latest: MonotonicInstant
    /// Transitions, newest first.
    private var transitions: [PastTransition] = []
    /// Whether the transitions from before this start are among them.
    private(set) var hasRestored = false
    /// Whether regions may have been removed since `hearings` was cleaned.
    private var hasOtherRegions = false
    /// The last beacon heard of each pattern. Any number of regions may have one pattern, so none of these costs is that of all regions.
    private var hearings: [BeaconPattern: RegionHearing] = [:]
    private var rates = ReportRates()

    init(at now: MonotonicInstant) {
        startedAt = now
        latest = now
    }

    // MARK: Recording

    mutating func record(_ sighting: Sighting, at instant: MonotonicInstant) {
        // Reports of several adapters may come out of order.
        latest = max(latest, instant)
        beacons.hear(sighting, at: latest)
    }

    /// - Returns: whether the status page shows it at once.
    mutating func record(_ effects: [Gateway.Effect]) -> Bool {
        var isNews = false
        for effect in effects {
            switch effect {
            case .record(let record):
                if transitions.count >= Self.mostTransitions { transitions.removeLast() }
                transitions.insert(record, at: 0)
                isNews = true
            case .regions: (isNews, hasOtherRegions) = (true, true)
            case .monitoring: isNews = true
            case .publish, .recordLocation, .presence, .checkpoint, .editsTaken, .value, .forget, .rereadEdits,
                .checkSettings,
                .putInForce, .settingsKept, .storePhoneKeys, .phonesInForce, .publishPhoneList, .log:
                break
            }
        }
        return isNews
    }

    /// Restores transitions from before this start, the newest last.
    ///
    /// - Parameter clock: It is known.
    mutating func restore(_ past: [PastTransition], trackers: Trackers, clock: WallClock) {
        hasRestored = true
        let hasNew = !transitions.isEmpty
        for var transition in past where transition.stamp != .provisional {
            guard let tracker = Self.index(of: transition.tracker, in: trackers) else { continue }
            transition.happened = clock.instant(ofEpochSeconds: transition.timestamp)
            // Those since the start are there already.
            guard !hasNew || transition.happened < startedAt else { continue }
            transition.trackerID = trackers[tracker].configuration.trackerID
            transitions.insert(transition, at: 0)
        }
        transitions = transitions.sorted { $0.happened > $1.happened }.prefix(Self.mostTransitions).map(\.self)
    }

    private static func index(of topic: String, in trackers: Trackers) -> Int? {
        trackers.firstIndex { $0.topics.base.hasSameBytes(as: topic) }
    }

    /// Other settings are about to be in force, perhaps with other regions.
    mutating func settingsChange() { hasOtherRegions = true }

    /// Every `ReportRates.period`.
    mutating func sample(_ adapters: [AdapterStatus], _ gateway: Gateway, at now: MonotonicInstant) {
        rates.sample(adapters, at: now)
        beacons.forget(at: now)
        // A region keeps its last hearing for longer than a beacon is remembered.
        if hasOtherRegions {
            hasOtherRegions = false
            hearings = hearings.filter { gateway.patterns(of: $0.value.beacon).contains($0.key) }
        }
        hearings.merge(GatewayInsight(of: gateway).hearings(of: beacons.states(at: now), at: now)) { $1 }
    }

    // MARK: Snapshot

    func snapshot(
        of gateway: Gateway, _ watch: LinkWatch, _ links: ServiceLinks, _ configuration: Configuration,
        servesSite: Bool = false, at now: MonotonicInstant
    ) -> StatusSnapshot {
        var snapshot = StatusSnapshot(
            now: now, wallClock: gateway.wallClock, version: Program.version,
            device: configuration.trackers[0].deviceID, startedAt: startedAt)
        let adapters = links.radio.adapters
        snapshot.scanner = .init(name: links.radio.scannerName, adapters: adapters.map { state(of: $0, at: now) })
        snapshot.scanner.problem = links.radio.problem.map { .init(text: $0.text, remedy: $0.remedy) }
        if links.radio.scannerName != "capture" { snapshot.scanner.scanDuty = configuration.scanDuty }
        snapshot.brokers = [watch.broker.state(of: configuration.broker, at: now)]
        snapshot.brokerRefusals = watch.refusals
        snapshot.queue = watch.queue(links.store.counters)
        if let counters = links.store.counters {
            snapshot.store = .init(problem: watch.storeProblem, writes: counters.transactions)
        }
        var states = beacons.states(at: now)
        let heard = hearings.merging(GatewayInsight(of: gateway).hearings(of: states, at: now)) { $1 }
        for index in states.indices {
            states[index].regions = gateway.regionNames(of: states[index].id)
            states[index].regionCount = gateway.regionCount(of: states[index].id)
            states[index].battery = gateway.battery(of: states[index].id)
            states[index].distance = states[index].rssi.flatMap {
                distance(rssi: $0, measuredPower: states[index].measuredPower)
            }
        }
        snapshot.beacons = states
        snapshot.trackers = GatewayInsight(of: gateway).trackerStates(hearings: heard, at: now)
        snapshot.markStale()
        snapshot.lowBatteries = gateway.lowBatteries.map { .init(beacon: $0.beacon, names: $0.names, state: $0.state) }
        snapshot.transitions = transitions
        snapshot.counters = gateway.counters
        snapshot.refusals = gateway.refusals.refusals
        snapshot.overflow = .init(
            sightings: gateway.droppedSightings, incoming: UInt64(max(0, links.broker.droppedMessages)),
            crowded: gateway.crowdedRegion(at: now))
        snapshot.malformed = malformed(adapters, links.radio.malformed)
        snapshot.process = ProcessUsage.read()
        snapshot.process?.startTime = startTime
        snapshot.servesSite = servesSite
        snapshot.pageProblem = links.status.pageProblem
        return snapshot
    }

    private func state(of status: AdapterStatus, at now: MonotonicInstant) -> StatusSnapshot.Adapter {
        // A recording is named by its path.
        let name = status.name.split(separator: "/").last.map(String.init) ?? status.name
        var adapter = StatusSnapshot.Adapter(name: name, isListening: status.isListening)
        adapter.isPausing = status.isPausing
        adapter.trouble = status.trouble
        adapter.reports = status.reports
        adapter.reportsPerSecond = rates.perSecond(status, since: startedAt, at: now)
        adapter.malformed = status.malformed.total
        adapter.lost = status.lost
        adapter.restarts = status.restarts
        adapter.resets = status.resets
        adapter.duty = status.duty
        adapter.lastHeard = status.lastHeard
        adapter.unheard = status.unheard.map(\.rawValue)
        return adapter
    }

    private func malformed(_ adapters: [AdapterStatus], _ frames: MalformedCounters) -> MalformedCounters {
        var sum = frames
        for adapter in adapters { sum.add(adapter.malformed) }
        return sum
    }
}
