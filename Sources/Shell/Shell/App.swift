package import Base
import Configuration
import Messaging
package import Runtime
package import Storage
import System

/// A service around a core: passes the events of the links to the core, and carries out its decisions over the links.
///
/// It knows no region, no tag and no topic. What its core decides is one transaction of the store, and a message goes to
/// the broker only after it is on the disk. One thread uses it.
package final class App<Core: ServiceCore> {
    package let host: any ServiceHost
    package let links: AppLinks
    package let log: Log
    package var settings: Settings
    package internal(set) var core: Core
    package internal(set) var watch: LinkWatch
    /// The wall clock as the core knows it.
    package internal(set) var wallClock: WallClock
    weak var owner: (any AppOwner<Core>)?
    var timers = AppTimers()
    /// When the timer of the core's deadline fires; nil: it is not armed.
    private var armedDeadline: MonotonicInstant?
    private var overdueTick = OverdueTick()
    private var suspends: SuspendWatch
    package internal(set) var brokerTurns = BrokerTurns()
    var delivery = Delivery()
    private(set) var isStopping = false

    package init(core: Core, settings: Settings, links: AppLinks, host: any ServiceHost, log: Log) {
        (self.core, self.settings, self.links, self.host, self.log) = (core, settings, links, host, log)
        watch = LinkWatch(at: host.now)
        wallClock = host.wallClock
        suspends = SuspendWatch(suspended: host.suspended)
    }

    /// Opens the store. The service starts work when the store is open.
    ///
    /// - Parameter restamp: As of `StoreSettings`.
    package func start(
        _ owner: any AppOwner<Core>, restamp: @escaping @Sendable (Restamp) -> [UInt8]? = { _ in nil }
    ) throws {
        self.owner = owner
        timers.deadline = host.timer(tolerance: .milliseconds(10), isLast: true) { [unowned self] now in tick(at: now) }
        timers.clock = host.timer(tolerance: .seconds(1)) { [unowned self] _ in readClock() }
        timers.connect = host.timer(tolerance: .seconds(1)) { [unowned self] _ in connect() }
        timers.release = host.timer(tolerance: .seconds(1)) { [unowned self] _ in host.releaseMemory() }
        timers.brokerTurn = host.timer(tolerance: .milliseconds(1)) { [unowned self] _ in
            brokerTurns.isToCome = false
            handleBrokerEvents()
        }
        var store = StoreSettings(
            directory: settings.stateDirectory, boot: host.bootID, now: { Clocks.now() }, restamp: restamp)
        store.program = Program.version
        try links.store.open(store) { [unowned self] in handleStoreEvents() }
    }

    // MARK: - Decisions

    /// Passes an input to the core, carries out its effects, and arms the timer for its next deadline.
    ///
    /// Every input takes this way, so that a suspend is handled before any other input.
    package func handle(_ input: Core.Input, at now: MonotonicInstant) {
        if let absence = suspends.absence(at: now, suspended: { host.suspended }) {
            perform(core.handle(.absent(absence), at: now))
        }
        let effects = core.handle(input, at: now)
        if !effects.isEmpty { perform(effects) }
        armDeadline()
        if let armedDeadline, armedDeadline < now, !overdueTick.waits(at: now) { tick(at: now) }
    }

    /// Carries out one decision of the core.
    private func perform(_ effects: [Core.Effect]) {
        guard !effects.isEmpty, let owner else { return }
        carryOut(owner.decision(of: effects, at: host.now))
        owner.finish(effects)
    }

    /// Carries out the links' part of a decision. Everything that it stores is one transaction.
    package func carryOut(_ decision: Decision) {
        if let record = decision.checkpoint { links.store.submit(.checkpoint(record)) }
        if !decision.changes.isEmpty {
            links.store.submit(.commit(decision.changes))
            if decision.changes.contains(where: \.isLarge) { releaseMemoryLater() }
        }
        if decision.rereadsEdits { links.store.submit(.rereadEdits) }
        for publication in decision.publications { publish(publication) }
    }

    private func tick(at now: MonotonicInstant) {
        (armedDeadline, overdueTick) = (nil, OverdueTick())
        handle(.tick, at: now)
    }

    /// Arms the timer for the core's next deadline. A later deadline needs no new timer: the armed one fires, finds
    /// nothing due, and is armed again.
    func armDeadline() {
        guard let deadline = Self.nextDeadline(of: &core) else { return }
        if let armedDeadline, armedDeadline <= deadline { return }
        armedDeadline = deadline
        timers.deadline?.arm(at: deadline)
    }

    /// Read in place: a core whose type the compiler does not know here would be copied for it, after every input.
    private static func nextDeadline(of core: inout Core) -> MonotonicInstant? { core.nextDeadline }

    /// Something changed that the page shows at once.
    package func changed() {
        links.status?.changed()
        owner?.changed()
    }

    // MARK: - Memory

    /// A list of ten thousand regions or tags exists several times until it is stored: as text, as JSON, as rows; so does
    /// the configuration. Without this the service keeps that memory until it ends.
    func releaseMemoryLater() { timers.release?.arm(after: AppTimers.releaseDelay) }

    // MARK: - The end

    /// Shuts down in order: all decisions are written to the disk, and what was published is sent.
    package func stop() {
        guard !isStopping else { return }
        isStopping = true
        host.report(.stopping)
        log.notice("stopping")
        (timers, brokerTurns.isToCome) = (AppTimers(), false)
        links.status?.close()
        owner?.stop()
        closeBroker()
        handle(.stopping, at: host.now)
        let isWritten = links.store.close(within: .seconds(10))
        // Only for the log and the exit status: nothing is decided any more.
        let events = links.store.drainEvents()
        for event in events { _ = event.write(to: log) }
        if !isWritten { log.error("the disk is too slow; unwritten data is lost") }
        host.exit(isWritten && !events.contains(where: \.isLoss) ? .ok : .inputOutput)
    }

    // MARK: - Messages without the outbox

    /// Publishes a message without the outbox.
    package func publish(_ publication: Publication) {
        guard links.broker.isConnected else { return }
        publish(publication, as: delivery.nextToken())
    }

    func publish(_ publication: Publication, as token: Int64) {
        if !links.broker.publish(publication, as: MessageToken(rawValue: token)) {
            log.once("queue", .error, "the \(settings.configuration.broker.receiver)'s queue is full")
        }
    }
}
