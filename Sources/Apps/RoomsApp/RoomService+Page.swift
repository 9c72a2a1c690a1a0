import Base
import Configuration
import Health
import PageServer
import Regions
import Shell
import SiteCore
import Storage
import System

/// The state of the service for the page, and the requests of the page.
extension RoomService: SitePageOwner {
    /// Opens the socket for commands, and the page if it is configured.
    ///
    /// - Throws: `Failure` if the page would be open to others without protection, or can never work.
    func openPage() throws(Failure) {
        guard let status = app.links.status else { return }
        let directory = app.settings.stateDirectory
        let (address, source) = (configuration.rooms?.statusPage, SitePage(self))
        try status.open(.init(commandsFor: directory, page: address), source: source)
        guard let address else { return }
        var page = try StatusServerSettings(
            pageAt: address, stateDirectory: directory,
            tokenCommand: "ibeacon-gateway status --token --state-dir \(directory)", log: app.log)
        page.cookieName = "ibeacon_rooms"
        try status.open(page, source: source)
    }

    var now: MonotonicInstant { host.now }

    var pageFrame: SiteSnapshot {
        let role = site.role
        let service = SiteSnapshot.ServiceState(
            site: site.settings.site ?? "", instance: site.election.instance, role: site.election.shownRole,
            other: role == .active ? nil : site.election.other, version: Program.version, startedAt: startedAt)
        var frame = SiteSnapshot(
            now: now, wallClock: host.wallClock, service: service,
            broker: app.watch.broker.state(of: configuration.broker, at: now))
        frame.service.refusal = site.election.refusal
        frame.refusals = app.watch.refusals
        frame.queue = app.watch.queue(app.links.store.counters)
        frame.pageFinding = app.links.status?.pageProblem.map { Finding(unservedPage: $0.text, remedy: $0.remedy) }
        frame.storeProblem = app.watch.storeProblem
        frame.service.dropped = UInt64(max(0, app.links.broker.droppedMessages))
        frame.service.refused = door.refused
        frame.service.unreadable = site.whereabouts.gateways.strangers.sorted()
        frame.service.process = ProcessUsage.read()
        frame.service.newerVersion = packages.newer(than: Program.version, at: now)
        if let device = configuration.trackers.first?.deviceID, let page = configuration.statusPage {
            frame.neighbour = (device, page)
        }
        return frame
    }

    /// The history is read once, as soon as the clock is known. If that fails, it is read again with the next request.
    var day: [Visits.Visit] {
        guard host.wallClock.isKnown, configuration.roomHistoryDays != 0 else { return [] }
        if !dayLog.isRestored, let past = try? newestTransitions() { dayLog.restore(past) }
        return dayLog.visits(until: host.wallClock.epochSeconds(at: now))
    }

    /// The newest transitions of the history, the oldest first.
    private func newestTransitions() throws -> [PastTransition] {
        var past: [PastTransition] = []
        try StoreReader(directory: app.settings.stateDirectory).forEachTransition(HistoryFilter(limit: DayLog.most)) {
            past.append($0)
            return true
        }
        return past
    }

    func offer(for request: PageRequest) -> PageAnswer? { offer?(configuration, request) }

    func carryOut(_ request: SiteRequest) -> String? {
        if let refusal = site.refusal(of: request) { return refusal }
        if case .search = request { nearby.begin(at: now) }
        handle(.request(request))
        return nil
    }
}
