import Base
import Configuration
import Gateway
import JSON
import OwnTracks
import PageServer
import Regions
import Shell
import Status
import StatusPage
import System

/// The service as the status page sees it. The page must not keep the service alive.
final class ServicePage: StatusSource {
    private unowned let app: App<Gateway>
    private let requests: UserRequests
    private let offer: GatewayOffer?
    private let snapshot: (MonotonicInstant) -> StatusSnapshot

    /// - Parameters:
    ///   - offer: The card of another gateway; nil: none is offered.
    ///   - snapshot: The state of the service at an instant.
    init(
        _ app: App<Gateway>, _ requests: UserRequests, _ offer: GatewayOffer?,
        snapshot: @escaping (MonotonicInstant) -> StatusSnapshot
    ) {
        (self.app, self.requests, self.offer, self.snapshot) = (app, requests, offer, snapshot)
    }

    /// Opens the socket for commands, and the status page if it is configured.
    ///
    /// - Throws: `Failure` if the page would be open to others without protection, or can never work.
    func open(by link: any StatusLink) throws(Failure) {
        let (address, directory) = (app.settings.configuration.statusPage, app.settings.stateDirectory)
        try link.open(.init(commandsFor: directory, page: address), source: self)
        guard let address else { return }
        let page = try StatusServerSettings(
            pageAt: address, stateDirectory: directory, tokenCommand: "ibeacon-gateway status --token", log: app.log)
        try link.open(page, source: self)
    }

    func statusSnapshot() -> StatusSnapshot {
        var snapshot = snapshot(app.host.now)
        if let page = app.settings.configuration.rooms?.statusPage, ControlSocket.isServed(for: Self.roomsState) {
            snapshot.roomsPage = (page.host, page.port)
        }
        return snapshot
    }

    /// The state of the rooms service of this machine, which shares the configuration file.
    private static let roomsState = "/var/lib/ibeacon-gateway-rooms"

    func explanation(ofRegion name: String) -> [JSONValue] {
        let now = app.host.now
        return GatewayInsight(of: app.core).explanation(ofRegion: name, at: now).map { $0.json(at: now) }
    }

    func region(ofTracker index: Int, rid: String) -> JSONValue? {
        let trackers = app.core.trackers
        return trackers.indices.contains(index) ? trackers[index].regions[rid: rid]?.form : nil
    }

    func offer(for request: PageRequest) -> PageAnswer? { offer?(app.settings.configuration, request) }

    func settingsForm() -> JSONValue { requests.settingsForm }

    func perform(_ action: StatusAction) -> StatusActionResult { requests.perform(action) }
}
