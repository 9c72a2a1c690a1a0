import Base
import Beacon
import Configuration
package import Gateway
import OwnTracks
package import Runtime
package import Shell
import Storage

extension Gateway: ServiceCore {}
extension Gateway.Input: ServiceInput {}

/// The gateway service: turns the events of the links into inputs of the core, and carries out what only this core
/// decides. `App` does the rest. One thread uses it.
package final class Service {
    package let app: App<Gateway>
    let links: ServiceLinks
    /// The encryption keys in force, and what decodes commands with them on the broker's thread.
    let keys: MessageKeys
    /// The settings of a `setConfiguration` until the broker accepts a connection with them.
    var pending: PendingConfiguration?
    /// Whether the settings of a `setConfiguration` stay, and are not on the disk yet.
    var awaitsKeeping = false
    /// The source of the status page, `/metrics` and Home Assistant's states.
    var monitor: StatusMonitor
    /// nil while Home Assistant's discovery is off.
    var home: HomeAssistantLink?
    /// Restarts of the scan that users ask for.
    var scanRestarts = RateBucket(capacity: 2, period: .seconds(30))
    /// Names that the gateway had before, whose entities are still to be removed from Home Assistant.
    var formerDevices = FormerDeviceNames()
    /// nil while the configuration has no rooms service.
    var readingFeed: ReadingFeedLink?
    /// The keys of phones.
    var phones = PhoneBook()
    /// The UUIDs of the site's tags.
    var namedTags: Set<BeaconUUID> = []
    /// Samples the monitor.
    var sampleTimer: (any ServiceTimer)?

    package init(settings: Settings, links: ServiceLinks, host: any ServiceHost, log: Log) {
        self.links = links
        keys = MessageKeys(settings.configuration)
        monitor = StatusMonitor(at: host.now)
        app = App(
            core: Gateway(
                configuration: settings.configuration, wallClock: host.wallClock,
                explainsTransitions: log.writes(.debug)),
            settings: settings, links: AppLinks(store: links.store, broker: links.broker, status: links.status),
            host: host, log: log)
    }

    var host: any ServiceHost { app.host }
    var log: Log { app.log }
    var configuration: Configuration { app.settings.configuration }

    /// Opens the status page and the store. The service starts work when the store is open.
    package func start() throws {
        try openStatusPage()
        try app.start(self, restamp: keys.finish)
    }
}
