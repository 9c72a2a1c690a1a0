import Base
import Beacon
import Configuration
import Gateway
import Glibc
import JSON
import Messaging
import OwnTracks
import Regions
package import Runtime
import Scanning
import StatusPage
import Storage
package import System

/// The service: joins radio, core, store and broker. One thread, this one, decides; the store's and the
/// broker's threads carry, and wake it.
package final class Daemon {
    let loop: EventLoop
    let log: Log
    var settings: Settings
    var gateway: Gateway
    let notifier = ServiceNotifier()
    /// The keys in force.
    let ciphers: Ciphers
    /// Reads commands on the broker's thread.
    let commandReader: CommandReader
    /// The settings to go back to if the broker cannot be reached with new ones.
    var trial: Trial?
    /// Takes iBeacons out of what scanners hear.
    var recognised = Recognition()
    var scanner: (any Scanner)?
    var store: Store?
    var broker: BrokerConnection?
    /// MQTT gives a connection one will, and OwnTracks has it; this one's says `offline`.
    var availability: BrokerConnection?
    /// Where that one's will goes. Settings may name another device while it lasts.
    var availabilityTopic = ""
    var isAvailabilityConnected = false
    var isBrokerConnected = false
    /// What is remembered for those who watch, and the page that shows it.
    var desk = StatusDesk(at: Clocks.now())
    var statusServer: StatusServer?
    var deskTimer: LoopTimer?
    var pageTimer: LoopTimer?
    /// Why the page can never be served as things are set.
    var pageFailure: String?
    /// nil while Home Assistant's discovery is not wanted.
    var home: HomeAssistantLink?
    var nextCommit: UInt64 = 1
    /// What it takes to keep presence across restarts and suspends.
    var keeping = PresenceKeeping()
    private var storeWaker: WakerWatch?
    /// Tells of edits by the command line.
    private var editWatch: DirectoryWatch?
    private var brokerWaker: WakerWatch?
    private var availabilityWaker: WakerWatch?
    private var deadlineTimer: LoopTimer?
    private var armedDeadline: MonotonicInstant?
    private var clockWatch: WallClockWatch?
    private var clockTimer: LoopTimer?
    private var signals: [SignalWatch] = []
    private var isStopping = false

    package init(settings: Settings, log: Log) throws(SystemError) {
        self.settings = settings
        self.log = log
        loop = try EventLoop()
        ciphers = Ciphers(settings.configuration)
        commandReader = CommandReader(settings.configuration, ciphers: ciphers)
        gateway = Gateway(
            configuration: settings.configuration, wallClock: WallClockJudge.read(),
            explainsTransitions: log.writes(.debug))
    }

    /// Runs until a signal ends it.
    package func run() throws -> ExitCode {
        try watchSignals()
        try watchClock()
        deadlineTimer = try loop.timer { [unowned self] now in
            armedDeadline = nil
            take(.tick, at: now)
        }
        // After the radio: a report that waits there may come from a beacon that the tick would let leave.
        try deadlineTimer?.goAfterOthers()
        try openStatusPage()
        try openStore()
        watchTurns()
        let code = try loop.run()
        return ExitCode(rawValue: code) ?? .software
    }

    /// Gives the gateway an input, carries out what it decides, and sees to it that it is asked again in time.
    ///
    /// Every input goes this way, so that none comes before a suspend is accounted for.
    func take(_ input: Input, at now: MonotonicInstant) {
        noteSuspend(at: now)
        perform(gateway.handle(input, at: now))
        armDeadline()
        tickIfOverdue(at: now)
    }

    /// A tick waits until nothing else is to be done: above all, until the radio has nothing more to be read. Where
    /// there always is something, it comes after this time.
    private static let longestWaitOfTick: Duration = .seconds(1)

    private func tickIfOverdue(at now: MonotonicInstant) {
        guard let armedDeadline, armedDeadline.advanced(by: Self.longestWaitOfTick) < now else { return }
        self.armedDeadline = nil
        take(.tick, at: now)
    }

    /// Sets the timer for the gateway's next decision. A deadline that moved back needs no new timer:
    /// the old one fires, finds nothing due, and is set again.
    func armDeadline() {
        guard let deadline = gateway.nextDeadline else { return }
        if let armedDeadline, armedDeadline <= deadline { return }
        armedDeadline = deadline
        do throws(SystemError) {
            try deadlineTimer?.arm(at: deadline)
        } catch {
            log.error("cannot set a timer: \(error)")
        }
    }

    // MARK: - Start and end

    private func openStore() throws {
        let waker = try loop.waker { [unowned self] in drainStore() }
        storeWaker = waker
        var storeSettings = StoreSettings(
            directory: settings.stateDirectory, boot: try keeping.readBoot(), now: { Clocks.now() },
            restamp: ciphers.finish)
        if watchEdits() { storeSettings.editInterval = StoreSettings.watchedEditInterval }
        store = try Store(storeSettings, wake: waker.waker.wake)
    }

    /// Has the store look for edits as soon as the command line is done with the state.
    ///
    /// - Returns: false where the machine has no watch to give; the store must look by itself then.
    private func watchEdits() -> Bool {
        do throws(SystemError) {
            editWatch = try DirectoryWatch(loop: loop, path: settings.stateDirectory) { [unowned self] in
                store?.submit(.checkEdits)
            }
            return true
        } catch {
            log.info("the state directory cannot be watched (\(error)); it is looked into every 2 s")
            return false
        }
    }

    /// The store is open: the gateway begins with what it kept, and the world may come in.
    func begin(with snapshot: StoreSnapshot) throws {
        let now = Clocks.now()
        let remote = restoreRemoteSettings(snapshot.values[Gateway.remoteSettingsKey])
        let topics = settings.configuration.trackers.map(\.topics.base)
        let stored = StoredState(
            configuration: settings.configuration,
            regions: topics.map { RegionSet(snapshot.regions[$0] ?? []) },
            monitoring: topics.map { MonitoringMode(stored: snapshot.values["monitoring \($0)"]) },
            presence: kept(in: snapshot).map {
                .kept($0, isSameBoot: snapshot.presence?.boot == keeping.boot)
            } ?? .unknown,
            remoteSettings: remote, servedTopics: snapshot.values[Gateway.servedTopicsKey],
            about: ["version": .string(Program.version), "started": .integer(Clocks.wallSeconds())])
        take(.start(stored), at: now)
        take(.regionEdits(snapshot.edits.map(StoredEdit.init)), at: now)
        readClock()
        recallTransitions()
        try keepPresence()
        try connectBroker()
        startScanner()
        armDeadline()
        let regions = gateway.trackers.reduce(0) { $0 + $1.regions.regions.count }
        let text = "\(regions) regions, \(snapshot.outboxCount) messages waiting"
        log.notice("ibeacon-gateway \(Program.version) is running: \(text)")
        notifier.ready(status: text)
        _ = try? loop.feedWatchdog()
    }

    func connectBroker() throws {
        let configuration = settings.configuration
        guard !configuration.broker.isOffline else {
            log.notice("offline (port 0): events are kept in the history, nothing is sent")
            return
        }
        desk.connects(at: Clocks.now())
        let waker = try loop.waker { [unowned self] in drainBroker() }
        brokerWaker = waker
        broker = try BrokerConnection(
            BrokerSettings(configuration, for: .ownTracks(at: Clocks.wallSeconds())),
            read: commandReader.read, wake: waker.waker.wake)
        availabilityTopic = DeviceTopics.availability(device: configuration.trackers[0].deviceID)
        let availabilityWaker = try loop.waker { [unowned self] in drainAvailability() }
        self.availabilityWaker = availabilityWaker
        availability = try BrokerConnection(
            BrokerSettings(configuration, for: .availability), wake: availabilityWaker.waker.wake)
        subscribe()
        prepareHomeAssistant()
        try broker?.start()
        try availability?.start()
    }

    private func watchSignals() throws(SystemError) {
        for signal in [SIGTERM, SIGINT] {
            signals.append(try loop.onSignal(signal) { [unowned self] in stop() })
        }
        signals.append(try loop.onSignal(SIGHUP) { [unowned self] in reload() })
    }

    private func stop() {
        guard !isStopping else { return }
        isStopping = true
        notifier.stopping()
        tellLongestTurn()
        log.notice("stopping")
        scanner?.stop()
        closeStatusPage()
        sayGoodbye()
        _ = broker?.stop(within: .seconds(2))
        drainBroker()
        take(.stopping, at: Clocks.now())
        if store?.stop(within: .seconds(10)) == false {
            log.error("the disk is too slow; what was not written is lost")
        }
        loop.exit(ExitCode.ok.rawValue)
    }

    private func reload() {
        notifier.reloading()
        defer { notifier.ready() }
        store?.submit(.checkEdits)
        guard let path = settings.path else { return log.notice("there is no configuration file to read again") }
        do throws(Failure) {
            var new = try Settings(readingFrom: path, stateDirectory: settings.stateDirectory)
            if let kept = gateway.remoteSettings { _ = new.apply(kept, log) }
            trial?.timer.disarm()
            trial = nil
            settings = new
            put(new.configuration)
            log.notice("read \(path) again; scanner and HTTP settings need a restart")
        } catch {
            log.error("\(error.message); the old settings stay in force")
        }
    }

    /// Puts a configuration in force, with a new connection if the old one is not to be had with it.
    func put(_ configuration: Configuration) {
        let isSameBroker = gateway.configuration.hasSameConnection(as: configuration)
        settings.configuration = configuration
        ciphers.update(configuration)
        commandReader.update(configuration)
        take(.configuration(configuration), at: Clocks.now())
        guard !isSameBroker else {
            subscribe()
            return refreshHomeAssistant()
        }
        disconnectBroker()
        do {
            try connectBroker()
        } catch {
            log.error("cannot connect: \(error)")
        }
    }

    private func disconnectBroker() {
        sayGoodbye()
        // Who is still being looked for hears no good-bye, and a look-up or a connect cannot be cut short.
        _ = broker?.stop(within: isBrokerConnected ? .seconds(2) : .zero)
        drainBroker()
        (broker, availability) = (nil, nil)
        isBrokerConnected = false
        store?.submit(.window(0))
        // What that connection had not finished goes by the next one.
        store?.submit(.redeliver)
    }

    // MARK: - Clock

    private func watchClock() throws(SystemError) {
        clockWatch = try WallClockWatch(loop: loop) { [unowned self] in readClock() }
        clockTimer = try loop.timer(tolerance: .seconds(1)) { [unowned self] _ in readClock() }
    }

    private func readClock() {
        let clock = WallClockJudge.read()
        let wasKnown = gateway.wallClock.isKnown
        guard clock.isKnown || !wasKnown else {
            let text =
                "the wall clock was set to a time that cannot be right; messages keep to the time as it was known"
            return log.once("clock", .warning, text)
        }
        take(.wallClock(clock), at: Clocks.now())
        if clock.isKnown {
            store?.submit(.clockIsKnown(WallClockReading(epochNanosecondsAtBoot: clock.epochOffset)))
            if !wasKnown { log.notice("the wall clock is set") }
        } else {
            log.once("clock", .notice, "the wall clock is not set yet; messages wait for it")
            try? clockTimer?.arm(after: .seconds(5))
        }
    }
}

extension MonitoringMode {
    /// As it is kept: its number as text.
    fileprivate init?(stored: [UInt8]?) {
        guard let stored, let number = Int(String(decoding: stored, as: UTF8.self)) else { return nil }
        self.init(rawValue: number)
    }
}

extension Configuration {
    /// Whether one connection serves both.
    fileprivate func hasSameConnection(as other: Configuration) -> Bool {
        broker == other.broker && trackers[0].topics == other.trackers[0].topics
            && trackers[0].deviceID == other.trackers[0].deviceID
    }
}
