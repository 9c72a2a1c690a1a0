import Base
import Configuration
import Gateway
import GatewayEntities
import Messaging
import PageServer
import Runtime
import Shell
import StatusPage
import Storage

/// Home Assistant's part of the second connection: with discovery, the entities of the gateway and their states.
final class HomeAssistantPart: SidePart {
    /// How often the states are updated while no region changes.
    private static let period: Duration = .seconds(5)
    /// Transitions within this time are published together.
    private static let delay: Duration = .milliseconds(50)

    let name = SidePartName.homeAssistant
    private unowned let app: App<Gateway>
    private unowned let side: SideConnection
    /// nil while discovery is off.
    private var sender: HomeAssistantSender?
    /// Names that the gateway had before, whose entities are still to be removed.
    private var formerDevices = FormerDeviceNames()
    /// They exist while discovery is on: one for periodic updates, one for the update soon after a change.
    private var timers: (period: any ServiceTimer, soon: any ServiceTimer)?

    init(_ app: App<Gateway>, _ side: SideConnection) { (self.app, self.side) = (app, side) }

    // MARK: - Settings

    /// Starts or stops discovery as the configuration requires.
    func prepare() {
        stop()
        guard configuration.homeAssistant.discovery else { return }
        let timer = app.host.timer(tolerance: .seconds(1)) { [unowned self] _ in tick() }
        let soon = app.host.timer { [unowned self] _ in update() }
        sender = HomeAssistantSender(settings)
        timers = (timer, soon)
        timer.arm(after: Self.period)
    }

    /// The configuration has changed, and the connection has not: the entities are described again.
    func refresh() {
        let isWanted = configuration.homeAssistant.discovery
        guard isWanted != (sender != nil) || (isWanted && sender?.settings != settings) else { return changed() }
        if isWanted, sender?.change(to: settings) == true {
            side.subscribe()
            return update()
        }
        let wasConnected = sender?.isConnected ?? app.links.broker.isConnected
        prepare()
        side.subscribe()
        if wasConnected { connected(at: app.host.now) }
    }

    func stop() { (sender, timers) = (nil, nil) }

    private var configuration: Configuration { app.settings.configuration }

    private var settings: HomeAssistantFeed.Settings {
        // Requests are not encrypted: if a key is set, none is carried out.
        let isEncrypted = configuration.trackers.contains { $0.encryptionKey != .absent }
        var settings = HomeAssistantFeed.Settings(
            prefix: configuration.homeAssistant.prefix, device: configuration.trackers[0].deviceID,
            version: Program.version, pageURL: pageURL, takesCommands: configuration.obeysCommands && !isEncrypted,
            area: configuration.namedRoom)
        settings.formerDevices = formerDevices.names
        return settings
    }

    /// The address of the status page for other machines.
    private var pageURL: String? {
        guard var address = configuration.statusPage, !address.isLoopback else { return nil }
        if ["0.0.0.0", "*", "", "::"].contains(address.host) {
            address.host = Settings.hostName.prefix { $0 != "." } + ".local"
        }
        return "http://\(address)/"
    }

    // MARK: - The connection

    var filters: Set<String> { sender?.subscriptions ?? [] }

    func connected(at now: MonotonicInstant) {
        sender?.connected()
        update()
    }

    func disconnected(at now: MonotonicInstant) { sender?.disconnected() }

    func answered(_ token: SideToken?) {
        if let token { sender?.answered(token) }
        send()
    }

    func received(_ message: ReceivedMessage, at now: MonotonicInstant) -> Bool {
        guard sender?.takes(message.topic) == true else { return false }
        if let request = sender?.received(message, at: now) {
            guard sender?.admitsRequest(at: now) == true else {
                app.handle(.requestRefused(topic: message.topic), at: now)
                return true
            }
            carryOut(request)
            changed()
        } else if sender?.needsUpdate == true {
            changed()
        }
        return true
    }

    private func carryOut(_ request: HomeAssistantFeed.Request) {
        switch side.owner?.perform(request) {
        case .done: app.log.info("Home Assistant asked: \(request)")
        case .refused(let reason):
            app.log.once("home: \(reason)", .warning, "Home Assistant asked: \(request): \(reason)")
        case nil: break
        }
    }

    // MARK: - Updates

    /// A state changed that a user may be watching.
    func changed() {
        guard sender?.wantsSoon() == true else { return }
        timers?.soon.arm(after: Self.delay)
    }

    private func tick() {
        update()
        timers?.period.arm(after: Self.period)
    }

    private func update() {
        guard sender?.isConnected == true, let snapshot = side.owner?.snapshot(at: app.host.now) else { return }
        sender?.update(snapshot)
        send()
        finishFormerDevices()
    }

    private func send() {
        guard sender?.isConnected == true else { return }
        sender?.send { side.publish($0, as: $1) }
    }

    // MARK: - Former names

    /// Reads the names, and adds the one that the gateway had when it ran last. On a copied card that name belongs to a gateway
    /// that still runs, so hardware that is not known to be the same adds none.
    func restoreFormerDevices(_ snapshot: StoreSnapshot, _ stored: StoredState) {
        formerDevices = FormerDeviceNames(bytes: snapshot.values[ExactString(FormerDeviceNames.storeKey)] ?? [])
        guard stored.isOnSameHardware == true, let served = stored.servedDevice else { return keepOwnDevice() }
        noteFormerDevice(served)
    }

    /// The gateway had this name until now.
    func noteFormerDevice(_ name: String) {
        guard !name.hasSameBytes(as: configuration.trackers[0].deviceID) else { return keepOwnDevice() }
        change { $0.add(name) }
    }

    /// A name that the gateway has again is not former.
    private func keepOwnDevice() { change { _ in } }

    /// Forgets the names whose entities are removed.
    private func finishFormerDevices() {
        guard let finished = sender?.drainFinished(), !finished.isEmpty else { return }
        change { names in for name in finished { names.remove(name) } }
        for name in finished {
            app.log.info("the entities of the former name '\(name)' are removed from Home Assistant")
        }
        refresh()
    }

    private func change(_ change: (inout FormerDeviceNames) -> Void) {
        let before = formerDevices
        change(&formerDevices)
        formerDevices.remove(configuration.trackers[0].deviceID)
        guard formerDevices != before else { return }
        app.links.store.submit(.commit([.value(key: FormerDeviceNames.storeKey, formerDevices.bytes)]))
    }
}
