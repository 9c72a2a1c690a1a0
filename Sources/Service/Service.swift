import Base
import Beacon
import Configuration
package import Gateway
import JSON
import OwnTracks
import Presence
import Regions
package import Runtime
import Scanning
import Status
import Storage
import System

/// The gateway service: turns what the links tell into inputs of the core, and carries out the core's effects over the
/// links. It is used by one thread.
package final class Service {
    let host: any ServiceHost
    let links: ServiceLinks
    let log: Log
    var settings: Settings
    package internal(set) var gateway: Gateway
    /// The encryption keys in force, and what decodes commands with them on the broker's thread.
    let keys: MessageKeys
    /// Settings that came by `setConfiguration` and that the broker has not accepted a connection with yet.
    var pending: PendingConfiguration?
    /// What the status page, `/metrics` and Home Assistant are made of.
    var monitor: StatusMonitor
    /// nil while Home Assistant's discovery is not wanted.
    var home: HomeAssistantLink?
    /// nil while no rooms service is wanted to hear of tags.
    var readingFeed: ReadingFeedLink?
    /// Timers by what they are for.
    var timers = ServiceTimers()
    /// Accounts for suspends of the machine.
    private var suspends: SuspendWatch
    private var isStopping = false

    package init(settings: Settings, links: ServiceLinks, host: any ServiceHost, log: Log) {
        self.settings = settings
        self.links = links
        self.host = host
        self.log = log
        keys = MessageKeys(settings.configuration)
        monitor = StatusMonitor(at: host.now)
        suspends = SuspendWatch(suspended: host.suspended)
        gateway = Gateway(
            configuration: settings.configuration, wallClock: host.wallClock, explainsTransitions: log.writes(.debug))
    }

    /// Opens the status page and the store. The service begins when the store is open.
    package func start() throws {
        timers.deadline = host.timer(tolerance: .milliseconds(10), isLast: true) { [unowned self] now in
            timers.armedDeadline = nil
            handle(.tick, at: now)
        }
        timers.clock = host.timer(tolerance: .seconds(1)) { [unowned self] _ in readClock() }
        try openStatusPage()
        try links.store.open(
            StoreSettings(
                directory: settings.stateDirectory, boot: host.bootID, now: { Clocks.now() }, restamp: keys.finish)
        ) { [unowned self] in handleStoreEvents() }
    }

    /// Gives the core an input, carries out what it decides, and sees to it that it is asked again in time.
    ///
    /// Every input goes this way, so that none comes before a suspend is accounted for.
    func handle(_ input: Input, at now: MonotonicInstant) {
        if let absence = suspends.absence(at: now, suspended: { host.suspended }) {
            perform(gateway.handle(.absent(absence), at: now))
        }
        perform(gateway.handle(input, at: now))
        armDeadline()
        tickIfOverdue(at: now)
    }

    /// A tick waits until nothing else is to be done: above all, until the radio has nothing more to be read. Where
    /// there always is something, it comes after this time.
    private static let longestWaitOfTick: Duration = .seconds(1)

    private func tickIfOverdue(at now: MonotonicInstant) {
        guard let armed = timers.armedDeadline, armed.advanced(by: Self.longestWaitOfTick) < now else { return }
        timers.armedDeadline = nil
        handle(.tick, at: now)
    }

    /// Sets the timer for the core's next decision. A deadline that moved back needs no new timer: the old one fires,
    /// finds nothing due, and is set again.
    func armDeadline() {
        guard let deadline = gateway.nextDeadline else { return }
        if let armed = timers.armedDeadline, armed <= deadline { return }
        timers.armedDeadline = deadline
        timers.deadline?.arm(at: deadline)
    }

    /// Ends in order: what was decided goes to the disk, and those who watch are told.
    package func stop() {
        guard !isStopping else { return }
        isStopping = true
        host.report(.stopping)
        log.notice("stopping")
        links.radio.stop()
        timers = ServiceTimers()
        home = nil
        readingFeed = nil
        links.status.close()
        closeAvailability()
        links.broker.close(within: .seconds(2))
        handleBrokerEvents()
        handle(.stopping, at: host.now)
        if !links.store.close(within: .seconds(10)) {
            log.error("the disk is too slow; what was not written is lost")
        }
        host.exit(.ok)
    }
}
