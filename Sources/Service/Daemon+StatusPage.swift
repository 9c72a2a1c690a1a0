import Beacon
import Configuration
import Gateway
import Glibc
import JSON
import Messaging
import OwnTracks
import Presence
import Regions
import Runtime
import Scanning
import Status
import StatusPage
import Storage
import System

extension Daemon {
    /// How long to wait before a port is tried again that is in use, or whose network is not up yet.
    private static let portRetry: Duration = .seconds(10)

    /// Opens the status page, if the configuration wants one.
    ///
    /// - Throws: `Failure` where starting would show the home to others, or never work. A port that is in use is no
    ///   reason to stop watching: it is tried again.
    func openStatusPage() throws(Failure) {
        let configuration = settings.configuration
        desk.isWatched = configuration.statusPage != nil || configuration.homeAssistant.discovery
        sampleDesk()
        guard let address = configuration.statusPage else { return }
        var page = StatusServerSettings(address: address, token: try statusToken(for: address))
        page.hostNames = Self.hostNames
        listen(page)
        if let failure = pageFailure { throw Failure(.configuration, failure) }
    }

    /// The token in the state directory. On loopback one is made; beyond, somebody must have asked for it.
    private func statusToken(for address: ListenAddress) throws(Failure) -> String? {
        do throws(Failure) {
            if let token = try StatusToken.read(in: settings.stateDirectory) { return token }
            guard address.isLoopback else {
                throw Failure(
                    .configuration,
                    "the status page would listen on \(address), beyond this machine, without a token; "
                        + "make one with 'ibeacon-gateway status --token', or listen on 127.0.0.1")
            }
            return try StatusToken.make(in: settings.stateDirectory)
        } catch {
            guard address.isLoopback else { throw Failure(.configuration, error.message) }
            log.warning("\(error.message); the status page can be read, but nothing can be changed on it")
            return nil
        }
    }

    /// The names of this machine by which a browser on the home's network may call it.
    private static var hostNames: [String] {
        let name = Settings.hostName
        let short = String(name.prefix { $0 != "." })
        return [name, short, "\(short).local", "\(short).lan", "\(short).home", "\(short).fritz.box"]
    }

    private func listen(_ page: StatusServerSettings) {
        do throws(StatusServerError) {
            // Radio, store and broker go first: however many look, who comes or goes is told later by no more than one
            // turn of sending.
            let host = LoopHost(loop: loop, log: log, goesLast: true)
            let server = try StatusServer(settings: page, host: host, source: DeskSource(self))
            statusServer = server
            log.notice("status page: http://\(page.address)/")
        } catch .listen(let address, let number) {
            let error = StatusServerError.listen(address: address, errno: number)
            log.once("http", .error, "\(error); it is tried again")
            retryPage(page)
        } catch {
            pageFailure = "\(error)"
        }
    }

    private func retryPage(_ page: StatusServerSettings) {
        do throws(SystemError) {
            let timer = try loop.timer(tolerance: .seconds(1)) { [unowned self] _ in listen(page) }
            try timer.arm(after: Self.portRetry)
            pageTimer = timer
        } catch {
            log.error("cannot set a timer: \(error)")
        }
    }

    func closeStatusPage() {
        pageTimer = nil
        deskTimer = nil
        statusServer?.stop()
        statusServer = nil
    }

    // MARK: The desk

    /// Somebody who watches wants to see it at once.
    func statusChanged() {
        statusServer?.changed()
        homeChanged()
    }

    func note(_ effects: [Effect]) {
        if desk.note(effects, trackers: gateway.trackers) { statusChanged() }
    }

    func note(_ event: BrokerEvent) {
        if desk.note(event, at: Clocks.now()) { statusChanged() }
    }

    /// The newest of what the history holds: the time line goes on where the last run ended.
    func recallTransitions() {
        guard desk.isWatched, let reader = try? StoreReader(directory: settings.stateDirectory) else { return }
        var past: [HistoryEntry] = []
        try? reader.forEachTransition(HistoryFilter(limit: StatusSnapshot.listedTransitions)) { entry in
            past.append(entry)
            return true
        }
        desk.recall(past, trackers: gateway.trackers, clock: gateway.wallClock)
    }

    private func sampleDesk() {
        desk.sample(scanner?.adapters ?? [], gateway, at: Clocks.now())
        do throws(SystemError) {
            if deskTimer == nil {
                deskTimer = try loop.timer(tolerance: .seconds(1)) { [unowned self] _ in sampleDesk() }
            }
            try deskTimer?.arm(after: ReportRates.period)
        } catch {
            log.error("cannot set a timer: \(error)")
        }
    }

    /// The way of scanning in use, as the configuration calls it.
    var scannerName: String {
        if let auto = scanner as? AutoScanner { return auto.chosen ?? "none" }
        switch settings.configuration.scanner {
        case .auto: return "auto"
        case .mgmt: return "mgmt"
        case .hci: return "hci"
        case .bluez: return "bluez"
        case .capture: return "capture"
        }
    }

    // MARK: What people ask for

    func setRegion(of tracker: Int, waypoint text: String) -> StatusActionResult {
        guard gateway.trackers.indices.contains(tracker) else { return .refused("there is no such tracker") }
        let reading: WaypointsReading
        do {
            var json = try JSONValue(parsing: Array(text.utf8))
            if case .object(var members) = json {
                members["_type"] = "waypoint"
                json = .object(members)
            }
            reading = try WaypointsReading(json, base: settings.configuration.numberBase)
        } catch {
            return .refused("\(error)")
        }
        if let problem = reading.problems.first { return .refused(problem.reason) }
        take(.request(.changeRegions(tracker: tracker, reading.changes)), at: Clocks.now())
        return .done
    }

    func removeRegion(of tracker: Int, rid: String) -> StatusActionResult {
        guard gateway.has(RegionKey(tracker: tracker, rid: rid)) else { return .refused("there is no such region") }
        take(.request(.changeRegions(tracker: tracker, [.remove(rid: rid)])), at: Clocks.now())
        return .done
    }

    func reportLocation(of tracker: Int) -> StatusActionResult {
        guard gateway.trackers.indices.contains(tracker) else { return .refused("there is no such tracker") }
        take(.request(.reportLocation(tracker: tracker)), at: Clocks.now())
        return .done
    }

    func restartScan() -> StatusActionResult {
        if case .capture = settings.configuration.scanner { return .refused("a recording is played once") }
        log.notice("the scan is started again, as somebody asked")
        scanner?.stop()
        startScanner()
        return .done
    }
}

/// The daemon as the status page sees it. The page must not keep the daemon alive.
private final class DeskSource: StatusSource {
    private unowned let daemon: Daemon

    init(_ daemon: Daemon) { self.daemon = daemon }

    func statusSnapshot() -> StatusSnapshot { daemon.desk.snapshot(of: daemon, at: Clocks.now()) }

    func explanation(ofRegion name: String) -> [JSONValue] {
        daemon.gateway.explanation(ofRegion: name, at: Clocks.now())
    }

    func perform(_ action: StatusAction) -> StatusActionResult {
        switch action {
        case .setRegion(let tracker, let waypoint): daemon.setRegion(of: tracker, waypoint: waypoint)
        case .removeRegion(let tracker, let rid): daemon.removeRegion(of: tracker, rid: rid)
        case .reportLocation(let tracker): daemon.reportLocation(of: tracker)
        case .restartScan: daemon.restartScan()
        }
    }
}
