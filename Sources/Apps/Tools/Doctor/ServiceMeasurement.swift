import Base
import Beacon
import Gateway
import Health
import JSON
import Status

/// Figures from the statuses of a running service over some minutes. Pure: statuses and the time are passed in.
struct ServiceMeasurement {
    /// The increase of a counter that begins at zero when the service restarts.
    private struct Increase {
        private var last: Double?
        private(set) var total = 0.0

        mutating func add(_ count: Double?) {
            guard let count else { return }
            if let last { total += count >= last ? count - last : count }
            last = count
        }
    }

    /// Counters of the service as a whole.
    private struct Totals {
        /// Seconds.
        var processor = Increase()
        var sightings = Increase()
        var writes = Increase()
    }

    private struct Adapter {
        var duty: Double?
        var reports = Increase()
        var malformed = Increase()
        var lost = Increase()
        var restarts = Increase()
        var resets = Increase()
        /// Statuses in which the adapter listened.
        var listened = 0
        /// The longest time since the last report in any status, seconds.
        var longestSilence: Double?
    }

    private let start: MonotonicInstant
    private var end: MonotonicInstant
    private var statuses = 0
    private(set) var missed = 0
    private var last: StatusSnapshot?
    private var lastUptime: Double?
    private var serviceRestarts = 0
    private var adapters: [String: Adapter] = [:]
    private var totals = Totals()
    private var mostMemory: Double?
    private var beaconCounts: [Double] = []

    init(at now: MonotonicInstant) { (start, end) = (now, now) }

    /// Whether the service has answered at least once.
    var hasAnswer: Bool { statuses > 0 }

    /// Reports per second of all adapters so far.
    var reportsPerSecond: Double? {
        let seconds = start.duration(to: end).inSeconds
        guard seconds > 0, statuses > 1 else { return nil }
        return adapters.values.reduce(0) { $0 + $1.reports.total } / seconds
    }

    /// - Parameter status: nil if the service did not answer.
    mutating func add(_ status: StatusSnapshot?, at now: MonotonicInstant) {
        guard let status else {
            missed += 1
            return
        }
        end = now
        statuses += 1
        last = status
        let uptime = status.startedAt.duration(to: status.now).inSeconds
        if let lastUptime, uptime < lastUptime { serviceRestarts += 1 }
        lastUptime = uptime
        for adapter in status.scanner.adapters { add(adapter, at: status.now) }
        totals.processor.add(status.process?.processorTime.inSeconds)
        totals.sightings.add(Double(status.counters.sightings))
        totals.writes.add(Double(status.store.writes))
        if let process = status.process { mostMemory = max(mostMemory ?? 0, Double(process.residentBytes)) }
        beaconCounts.append(Double(status.beacons.count + status.unlistedBeacons))
    }

    private mutating func add(_ status: StatusSnapshot.Adapter, at now: MonotonicInstant) {
        var adapter = adapters[status.name] ?? Adapter()
        adapter.duty = status.duty
        adapter.reports.add(Double(status.reports))
        adapter.malformed.add(Double(status.malformed))
        adapter.lost.add(Double(status.lost))
        adapter.restarts.add(Double(status.restarts))
        adapter.resets.add(Double(status.resets))
        if status.isListening { adapter.listened += 1 }
        if let silence = status.lastHeard?.duration(to: now).inSeconds {
            adapter.longestSilence = max(adapter.longestSilence ?? 0, silence)
        }
        adapters[status.name] = adapter
    }

    // MARK: The report

    private static let noService =
        "the service did not answer: it does not run, or http is null, or this user may not ask"

    /// The part of the report about the service.
    var report: MachineReport {
        guard let last, statuses > 0 else { return .unknown(Self.noService) }
        let seconds = start.duration(to: end).inSeconds
        let short = "the service answered only once"
        func rate(_ increase: Increase) -> MachineReport {
            .number(seconds > 0 && statuses > 1 ? increase.total / seconds : nil, otherwise: short)
        }
        let process = "the service cannot read its /proc"
        return .section([
            ("version", .text(last.version, otherwise: "the status does not say")),
            ("measuredSeconds", .number(seconds, otherwise: short)),
            ("statuses", .known(.integer(Int64(statuses)))), ("statusesMissed", .known(.integer(Int64(missed)))),
            ("uptimeSeconds", .number(lastUptime, otherwise: "the status does not say")),
            ("restartsOfTheService", .known(.integer(Int64(serviceRestarts)))),
            ("startSeconds", .number(last.process?.startTime?.inSeconds, otherwise: process)),
            ("processorShare", last.process == nil ? .unknown(process) : rate(totals.processor)),
            ("memoryMiB", .number(mostMemory.map { $0 / 1_048_576 }, otherwise: process)),
            ("diskWritesPerSecond", rate(totals.writes)),
            ("scanner", .text(last.scanner.name, otherwise: "no scanner is in use")),
            ("iBeaconsPerSecond", rate(totals.sightings)),
            ("beaconsNear", beacons),
            ("intervals", intervals(last)),
            (
                "adapters",
                adapters.isEmpty
                    ? .unknown("the service uses no adapter")
                    : .list(adapters.sorted { $0.key < $1.key }.map { report($0.key, $0.value, rate) })
            ),
        ])
    }

    private func report(
        _ name: String, _ adapter: Adapter, _ rate: (Increase) -> MachineReport
    ) -> MachineReport {
        .section([
            // The name of a recording is its file name, which may be private.
            ("name", .known(.string(name.hasPrefix("hci") && name.utf8.count < 8 ? name : "recording"))),
            (
                "duty",
                .number(
                    adapter.duty, otherwise: "it is not known: this scanner cannot set it, or the kernel refused it")
            ),
            ("listeningShare", .number(Double(adapter.listened) / Double(max(1, statuses)), otherwise: "")),
            ("reportsPerSecond", rate(adapter.reports)),
            ("lost", .number(adapter.lost.total, otherwise: "")),
            ("malformed", .number(adapter.malformed.total, otherwise: "")),
            ("restartsOfTheScan", .number(adapter.restarts.total, otherwise: "")),
            ("resets", .number(adapter.resets.total, otherwise: "")),
            ("longestSilenceSeconds", .number(adapter.longestSilence, otherwise: "nothing was heard")),
        ])
    }

    private var beacons: MachineReport {
        let sorted = beaconCounts.sorted()
        guard let least = sorted.first, let most = sorted.last else { return .unknown("the status does not say") }
        return .section([
            ("least", .number(least, otherwise: "")), ("median", .number(sorted[sorted.count / 2], otherwise: "")),
            ("most", .number(most, otherwise: "")),
        ])
    }

    /// The intervals and levels of the strongest beacons, without their identities.
    private func intervals(_ status: StatusSnapshot) -> MachineReport {
        let beacons = status.beacons.filter { $0.interval != nil }.prefix(20)
        guard !beacons.isEmpty else { return .unknown("no beacon was heard for long enough") }
        return .list(
            beacons.map { beacon in
                .known([
                    "seconds": .plain(beacon.interval?.inSeconds ?? 0),
                    "dBm": beacon.rssi.map { .integer(Int64($0.dBm)) } ?? "not known",
                ])
            })
    }
}
