import Base
import Beacon
import Gateway
import OwnTracks
import Regions
import Runtime
import Scanning
import Shell
import Status
import Storage
import System

/// What the service shows of itself: it keeps the monitor, which is the source of the status page, `/metrics` and Home
/// Assistant's states, up to date.
final class ServiceStatus {
    private unowned let app: App<Gateway>
    private let links: ServiceLinks
    private var monitor: StatusMonitor
    private var packages = PackageLists()
    /// Samples the monitor. It exists between start and stop.
    private var timer: (any ServiceTimer)?

    init(_ app: App<Gateway>, _ links: ServiceLinks) {
        (self.app, self.links) = (app, links)
        monitor = StatusMonitor(at: app.host.now)
    }

    func start() {
        timer = app.host.timer(tolerance: .seconds(1)) { [unowned self] _ in tick() }
        tick()
    }

    func stop() { timer = nil }

    private func tick() {
        monitor.sample(links.radio.adapters, app.core, at: app.host.now)
        timer?.arm(after: ReportRates.period)
    }

    /// The service is ready.
    func ready() { monitor.startTime = ProcessUsage.age() }

    func heard(_ sighting: Sighting, at instant: MonotonicInstant) { monitor.record(sighting, at: instant) }

    /// - Returns: whether the status page shows something of a decision at once.
    func record(_ effects: [Gateway.Effect]) -> Bool { monitor.record(effects) }

    /// Other settings are about to be in force.
    func settingsChange() { monitor.settingsChange() }

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

    /// - Parameters:
    ///   - servesSite: Whether the gateway is one of a site.
    ///   - phones: The phones whose keys it has.
    ///   - proxies: The Bluetooth proxies.
    ///   - survey: The beacons that the gateways of the site send.
    func snapshot(
        servesSite: Bool, phones: [StatusSnapshot.PhoneStatus], proxies: [StatusSnapshot.ProxyState],
        survey: SurveyPart, at now: MonotonicInstant
    ) -> StatusSnapshot {
        var snapshot = monitor.snapshot(
            of: app.core, app.watch, links, app.settings.configuration, servesSite: servesSite, at: now)
        snapshot.phones = phones
        snapshot.proxies = proxies
        snapshot.ownBeacon = survey.state
        for index in snapshot.beacons.indices {
            snapshot.beacons[index].gateway = survey.gateway(sending: snapshot.beacons[index].id)
        }
        snapshot.newerVersion = packages.newer(than: Program.version, at: now)
        snapshot.findings = snapshot.liveFindings
        return snapshot
    }
}
