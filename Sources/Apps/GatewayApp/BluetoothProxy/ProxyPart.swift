import Base
import Beacon
import BluetoothProxy
import Configuration
import Gateway
import JSON
import PageServer
import Runtime
import Scanning
import Shell
import Status
import Storage

/// The Bluetooth proxies: one for each adapter, while the settings want them. Presence knows nothing of them.
final class ProxyPart {
    /// The key of the store under which it has the Home Assistants that have adopted each proxy, by the name of the proxy.
    static let storeKey = "homes of bluetooth proxies"
    /// How often it looks for adapters, and for another address of this machine.
    private static let period: Duration = .seconds(1)

    private unowned let app: App<Gateway>
    private let radio: any RadioLink
    private let surroundings: ProxySurroundings?
    let announcement: ProxyAnnouncementPart
    /// In the order of their adapters.
    private var proxies: [RunningProxy] = []
    /// The settings with which they run; nil: they are off.
    private var settings: BluetoothProxySettings?
    private var homes: [String: [String]] = [:]
    private var timer: (any ServiceTimer)?
    private var isTapped = false

    /// - Parameter surroundings: nil: there is no machine to serve from.
    init(_ app: App<Gateway>, _ side: SideConnection, _ radio: any RadioLink, _ surroundings: ProxySurroundings?) {
        (self.app, self.radio, self.surroundings) = (app, radio, surroundings)
        announcement = ProxyAnnouncementPart(app, side)
        announcement.onBirth = { [unowned self] in for proxy in proxies { proxy.homeAssistantStarted() } }
    }

    func restore(_ snapshot: StoreSnapshot) {
        announcement.restore(snapshot.values[ExactString(ProxyAnnouncementPart.storeKey)])
        let json = snapshot.values[ExactString(Self.storeKey)].flatMap { try? JSONValue(parsing: $0) }
        homes = (json?.object ?? [:]).mapValues { $0.array?.compactMap(\.string) ?? [] }
    }

    /// Starts, stops or restarts the proxies as the settings in force require.
    func refresh() {
        let wanted = surroundings == nil ? nil : app.settings.configuration.bluetoothProxy
        if wanted != settings || proxies.contains(where: { $0.identity != identity(of: $0.receiver) }) { close() }
        settings = wanted
        radio.setOffersActiveScan(wanted != nil)
        guard wanted != nil else {
            timer = nil
            return announcement.announce([:])
        }
        if timer == nil { timer = app.host.timer(tolerance: .milliseconds(200)) { [unowned self] _ in tick() } }
        tick()
    }

    func stop() {
        close()
        timer = nil
    }

    private func close() {
        for proxy in proxies {
            proxy.stop()
            radio.scanActively(false, by: proxy.receiver)
        }
        proxies = []
        tap()
    }

    private func identity(of receiver: Receiver) -> ProxyIdentity? {
        guard let surroundings, let proxy = app.settings.configuration.bluetoothProxy else { return nil }
        return ProxyIdentity(app.settings.configuration, proxy, receiver, surroundings.facts(receiver))
    }

    private func tick() {
        let now = app.host.now
        let clock = app.host.wallClock
        let epoch = clock.isKnown ? clock.epochSeconds(at: now) : nil
        let adapters = radio.adapters
        // A machine-id or a network adapter may have come meanwhile.
        if proxies.contains(where: { !$0.identity.isDistinct && $0.identity != identity(of: $0.receiver) }) { close() }
        for adapter in adapters where !proxies.contains(where: { $0.receiver == adapter.receiver }) {
            add(adapter.receiver)
        }
        for proxy in proxies {
            let scan = Self.scan(of: adapters.first { $0.receiver == proxy.receiver })
            let problem = proxy.problem
            proxy.tick(scan, epochSeconds: epoch, at: now)
            if let new = proxy.problem, new != problem {
                app.log.error("the Bluetooth proxy \(proxy.identity.name): \(new)")
            }
        }
        announce()
        timer?.arm(after: Self.period)
    }

    private static func scan(of adapter: AdapterStatus?) -> ProxyScan {
        guard let adapter else { return ProxyScan(state: .stopped) }
        return ProxyScan(
            state: adapter.isListening || adapter.isPausing ? .running : .stopped,
            mode: adapter.activeScan == .running ? .active : .passive,
            configuredMode: adapter.activeScan == .unavailable ? .passive : .active)
    }

    private func add(_ receiver: Receiver) {
        guard let surroundings, let settings, let identity = identity(of: receiver) else { return }
        let proxy = RunningProxy(
            identity, receiver, settings, homes: homes[identity.name] ?? [], surroundings
        ) { [unowned self] in carryOut($1, of: $0) }
        proxies.append(proxy)
        proxies.sort { $0.receiver.index < $1.receiver.index }
        app.log.info("the Bluetooth proxy \(identity.name) is for hci\(receiver.index), at port \(identity.port)")
    }

    /// Tells Home Assistants at the broker. Only who listens at one address is not reached at that of the machine.
    private func announce() {
        guard let settings, let surroundings else { return }
        let isEverywhere = ["*", "0.0.0.0", "::"].contains(settings.listen.host)
        guard let host = isEverywhere ? surroundings.outwardAddress() : settings.listen.host else { return }
        // Elsewhere this address is another machine.
        guard !settings.listen.isLoopback else { return announcement.announce([:]) }
        var wanted: [String: [UInt8]] = [:]
        for proxy in proxies where proxy.isOpen { wanted[proxy.identity.name] = proxy.identity.announcement(at: host) }
        announcement.announce(wanted)
    }

    // MARK: - Effects

    private func carryOut(_ effect: ProxyServer.Effect, of proxy: RunningProxy) {
        switch effect {
        case .listen: tap()
        case .adopted(let addresses):
            homes[proxy.identity.name] = addresses
            let json = JSONValue.object(homes.mapValues { .array($0.map { .string($0) }) })
            app.links.store.submit(.commit([.value(key: Self.storeKey, json.bytes)]))
        case .note(let note):
            let isGood = if case .subscribed = note { true } else { false }
            app.log.write(isGood ? .info : .warning, "\(note)")
            app.changed()
        case .scanActively(let isWanted): radio.scanActively(isWanted, by: proxy.receiver)
        case .send, .close, .dial: break
        }
    }

    /// Every packet is heard while any client wants it.
    private func tap() {
        let isWanted = proxies.contains(where: \.wantsPackets)
        guard isWanted != isTapped else { return }
        isTapped = isWanted
        guard isWanted else { return radio.setTap(nil) }
        radio.setTap { [unowned self] report, data, receiver in
            for proxy in proxies where proxy.receiver == receiver { proxy.heard(report, data) }
        }
    }

    // MARK: - Status

    var states: [StatusSnapshot.ProxyState] {
        proxies.map { proxy in
            var state = proxy.state(isAtBroker: announcement.isAnnounced(proxy.identity.name))
            state.lost = radio.packetsLost(by: proxy.receiver)
            return state
        }
    }
}
