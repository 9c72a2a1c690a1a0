import Base
import Configuration
import Gateway
import Glibc
import JSON
import OwnTracks
import PageServer
import Presence
import Regions
import Runtime
import Shell
import Status
import StatusPage
import Storage
import System

/// The content of the status page, and its requests.
extension Service {
    /// Opens the socket for commands, and the status page if it is configured.
    ///
    /// - Throws: `Failure` if the page would be open to others without protection, or can never work.
    func openStatusPage() throws(Failure) {
        let timer = host.timer(tolerance: .seconds(1)) { [unowned self] _ in sampleMonitor() }
        sampleTimer = timer
        sampleMonitor()
        let (address, source) = (configuration.statusPage, ServiceStatusSource(self))
        try links.status.open(.init(commandsFor: app.settings.stateDirectory, page: address), source: source)
        guard let address else { return }
        let page = try StatusServerSettings(
            pageAt: address, stateDirectory: app.settings.stateDirectory,
            tokenCommand: "ibeacon-gateway status --token", log: log)
        try links.status.open(page, source: source)
    }

    // MARK: - Content

    func snapshot(at now: MonotonicInstant) -> StatusSnapshot {
        var snapshot = monitor.snapshot(
            of: app.core, app.watch, links, configuration, servesSite: servesSite(at: now), at: now)
        snapshot.phones = phoneStates(at: now)
        return snapshot
    }

    /// Begins the time line with the newest transitions of the history, as soon as the clock is known.
    func restoreTransitions() {
        guard app.core.wallClock.isKnown, !monitor.hasRestored,
            let reader = try? StoreReader(directory: app.settings.stateDirectory)
        else { return }
        var past: [PastTransition] = []
        try? reader.forEachTransition(HistoryFilter(limit: StatusSnapshot.listedTransitions)) { entry in
            past.append(entry)
            return true
        }
        monitor.restore(past, trackers: app.core.trackers, clock: app.core.wallClock)
    }

    private func sampleMonitor() {
        monitor.sample(links.radio.adapters, app.core, at: host.now)
        sampleTimer?.arm(after: ReportRates.period)
    }

    // MARK: - Requests

    func setRegion(of tracker: Int, waypoint text: String) -> StatusActionResult {
        guard app.core.trackers.indices.contains(tracker) else { return .refused("there is no such tracker") }
        let reading: WaypointsReading
        var hasKey = false
        do {
            var json = try JSONValue(parsing: Array(text.utf8))
            if case .object(var members) = json {
                members["_type"] = "waypoint"
                hasKey = members["rid"]?.string?.isEmpty == false
                json = .object(members)
                let regions = app.core.trackers[tracker].regions
                if let rid = members["rid"]?.string, let region = regions[rid: rid] {
                    json = region.waypoint(changing: members, base: configuration.numberBase)
                }
            }
            reading = try WaypointsReading(json, base: configuration.numberBase)
        } catch {
            return .refused("\(error)")
        }
        if let problem = reading.problems.first { return .refused(problem.reason) }
        for remark in reading.remarks { log.warning("page: \(remark)") }
        var changes = reading.changes
        if !hasKey, case .set(var region, _)? = changes.first {
            let clock = app.core.wallClock
            if region.hasNoTimestamp, clock.isKnown { region.timestamp = clock.epochSeconds(at: host.now) }
            guard case .new(let added) = RegionAddition(region, to: app.core.trackers[tracker].regions) else {
                return .refused("this region is there already")
            }
            changes = [.set(added, isRIDDerived: false)]
        }
        app.handle(.request(.changeRegions(tracker: tracker, changes)), at: host.now)
        return .done
    }

    /// As `setRegion`, but a region that was removed since does not come back.
    func editRegion(of tracker: Int, waypoint text: String) -> StatusActionResult {
        let rid = (try? JSONValue(parsing: Array(text.utf8)))?["rid"]?.string
        guard let rid, app.core.has(RegionKey(tracker: tracker, rid: rid)) else {
            return .refused("there is no such region")
        }
        return setRegion(of: tracker, waypoint: text)
    }

    func removeRegion(of tracker: Int, rid: String) -> StatusActionResult {
        guard app.core.has(RegionKey(tracker: tracker, rid: rid)) else { return .refused("there is no such region") }
        app.handle(.request(.changeRegions(tracker: tracker, [.remove(rid: rid)])), at: host.now)
        return .done
    }

    func reportLocation(of tracker: Int) -> StatusActionResult {
        guard app.core.trackers.indices.contains(tracker) else { return .refused("there is no such tracker") }
        app.handle(.request(.reportLocation(tracker: tracker)), at: host.now)
        return .done
    }

    func setMonitoring(of tracker: Int, to number: Int) -> StatusActionResult {
        guard app.core.trackers.indices.contains(tracker), let mode = MonitoringMode(rawValue: number) else {
            return .refused("there is no such tracker or mode")
        }
        app.handle(.request(.setMonitoring(tracker: tracker, mode)), at: host.now)
        return .done
    }

    func restartScan() -> StatusActionResult {
        if case .capture = configuration.scanner { return .refused("a recording is played once") }
        // While it restarts, nothing is heard.
        guard scanRestarts.admits(at: host.now) else { return .refused("the scan was restarted a moment ago") }
        log.notice("the scan is restarted on request")
        links.radio.stop()
        links.radio.start(self)
        return .done
    }
}

/// The service as the status page sees it. The page must not keep the service alive.
private final class ServiceStatusSource: StatusSource {
    private unowned let service: Service

    init(_ service: Service) { self.service = service }

    func statusSnapshot() -> StatusSnapshot { service.snapshot(at: service.host.now) }

    func explanation(ofRegion name: String) -> [JSONValue] {
        let now = service.host.now
        return GatewayInsight(of: service.app.core).explanation(ofRegion: name, at: now).map { $0.json(at: now) }
    }

    func region(ofTracker position: Int, rid: String) -> JSONValue? {
        let trackers = service.app.core.trackers
        return trackers.indices.contains(position) ? trackers[position].regions[rid: rid]?.form : nil
    }

    func perform(_ action: StatusAction) -> StatusActionResult {
        guard service.app.core.isStarted else { return .refused("the service has not read its state yet") }
        return switch action {
        case .setRegion(let tracker, let waypoint): service.setRegion(of: tracker, waypoint: waypoint)
        case .editRegion(let tracker, let waypoint): service.editRegion(of: tracker, waypoint: waypoint)
        case .removeRegion(let tracker, let rid): service.removeRegion(of: tracker, rid: rid)
        case .reportLocation(let tracker): service.reportLocation(of: tracker)
        case .restartScan: service.restartScan()
        }
    }
}
