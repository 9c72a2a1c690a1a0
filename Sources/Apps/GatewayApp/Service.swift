import Base
import Beacon
import Configuration
package import Gateway
import GatewayEntities
import PageServer
package import Runtime
package import Shell
import Status
import StatusPage

extension Gateway: ServiceCore {}
extension Gateway.Input: ServiceInput {}

/// The gateway service: turns the events of the links into inputs of the core, and carries out what only this core
/// decides. `App` does the rest. One thread uses it.
///
/// The parts of the second connection know nothing of each other. What one needs of another passes here (`SidePartOwner`).
package final class Service {
    package let app: App<Gateway>
    private let links: ServiceLinks
    /// The encryption keys in force, and what decodes commands with them on the broker's thread.
    let keys: MessageKeys
    let side: SideConnection
    let home: HomeAssistantPart
    let survey: SurveyPart
    let feed: ReadingFeedPart
    let phones: PhonesPart
    let status: ServiceStatus
    let radio: RadioPart
    let requests: UserRequests
    let proxies: ProxyPart
    /// Whether the settings of a `setConfiguration` stay, and are not on the disk yet.
    var awaitsKeeping = false
    /// What the page answers to who adds another gateway; nil: nothing.
    var offer: GatewayOffer?

    package init(settings: Settings, links: ServiceLinks, host: any ServiceHost, log: Log) {
        self.links = links
        keys = MessageKeys(settings.configuration)
        app = App(
            core: Gateway(
                configuration: settings.configuration, wallClock: host.wallClock,
                explainsTransitions: log.writes(.debug)),
            settings: settings, links: AppLinks(store: links.store, broker: links.broker, status: links.status),
            host: host, log: log)
        side = SideConnection(links.availability, of: app)
        survey = SurveyPart(app, links.radio)
        feed = ReadingFeedPart(app, side, links.radio, survey)
        home = HomeAssistantPart(app, side)
        phones = PhonesPart(app, side, links.radio, links.phoneKeys)
        status = ServiceStatus(app, links)
        radio = RadioPart(app, links.radio, status, feed, survey)
        requests = UserRequests(app, radio)
        proxies = ProxyPart(app, side, links.radio, links.proxies)
        side.carry([proxies.announcement, feed, home, AvailabilityPart(side), phones], for: self)
    }

    var host: any ServiceHost { app.host }
    var log: Log { app.log }
    var configuration: Configuration { app.settings.configuration }

    /// Opens the status page and the store. The service starts work when the store is open.
    package func start() throws {
        status.start()
        let page = ServicePage(app, requests, offer) { [unowned self] in snapshot(at: $0) }
        try page.open(by: links.status)
        try app.start(self, restamp: keys.finish)
    }
}

extension Service: SidePartOwner {
    func snapshot(at now: MonotonicInstant) -> StatusSnapshot {
        status.snapshot(
            servesSite: feed.servesSite(at: now), phones: phones.states(at: now), proxies: proxies.states,
            survey: survey, at: now)
    }

    func perform(_ request: HomeAssistantFeed.Request) -> StatusActionResult { requests.perform(request) }

    func tagsChanged() { radio.nameUUIDs() }

    func phonesChanged() {
        radio.nameUUIDs()
        feed.publishPhones()
    }

    var phoneUUIDs: Set<BeaconUUID> { app.core.phones.uuids }
}
