import Base
package import Gateway
import OwnTracks
package import Runtime
package import Shell
import Storage
import System

/// The gateway service: turns the events of the links into inputs of the core, and carries out the core's effects over
/// the links. One thread uses it.
package final class Service {
    let host: any ServiceHost
    let links: ServiceLinks
    let log: Log
    var settings: Settings
    package internal(set) var gateway: Gateway
    /// The encryption keys in force, and what decodes commands with them on the broker's thread.
    let keys: MessageKeys
    /// The settings of a `setConfiguration` until the broker accepts a connection with them.
    var pending: PendingConfiguration?
    /// The source of the status page, `/metrics` and Home Assistant's states.
    var monitor: StatusMonitor
    /// nil while Home Assistant's discovery is off.
    var home: HomeAssistantLink?
    /// nil while the configuration has no rooms service.
    var readingFeed: ReadingFeedLink?
    /// The timers of the service.
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

    /// Opens the status page and the store. The service starts work when the store is open.
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

    /// Passes an input to the core, carries out its effects, and arms the timer for its next deadline.
    ///
    /// Every input takes this way, so that a suspend is handled before any other input.
    func handle(_ input: Input, at now: MonotonicInstant) {
        if let absence = suspends.absence(at: now, suspended: { host.suspended }) {
            perform(gateway.handle(.absent(absence), at: now))
        }
        perform(gateway.handle(input, at: now))
        armDeadline()
        tickIfOverdue(at: now)
    }

    /// A tick waits until nothing else is ready, above all until all reports of the radio are read. On a machine that
    /// is always busy it comes after this time.
    private static let longestWaitOfTick: Duration = .seconds(1)

    private func tickIfOverdue(at now: MonotonicInstant) {
        guard let armed = timers.armedDeadline, armed.advanced(by: Self.longestWaitOfTick) < now else { return }
        timers.armedDeadline = nil
        handle(.tick, at: now)
    }

    /// Arms the timer for the core's next deadline. A later deadline needs no new timer: the armed one fires, finds
    /// nothing due, and is armed again.
    func armDeadline() {
        guard let deadline = gateway.nextDeadline else { return }
        if let armed = timers.armedDeadline, armed <= deadline { return }
        timers.armedDeadline = deadline
        timers.deadline?.arm(at: deadline)
    }

    /// Shuts down in order: all decisions are written to the disk, and `offline` is published.
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
            log.error("the disk is too slow; unwritten data is lost")
        }
        host.exit(.ok)
    }
}
