import Base
import Beacon
import BluetoothProxy
import Configuration
import PageServer
import ServiceDiscovery
import Shell
import Status
import System

/// The proxy of one adapter: its port, how it is found, and what it says of itself.
final class RunningProxy {
    /// How long it waits before it tries again to get its port, or to reach Avahi.
    private static let pause: Duration = .seconds(10)

    struct Problem: Hashable, CustomStringConvertible {
        let description: String
        let remedy: String

        static let notDistinct = Problem(
            description: "neither a network adapter nor /etc/machine-id tells this machine from others",
            remedy:
                "make a machine-id (systemd-machine-id-setup), or give the container one of its own; it is tried again")
        static let zeroKey = Problem(
            description: "its key is all zeros, which Home Assistant takes for none",
            remedy: "make another one: openssl rand -base64 32; then reload")

        static func port(_ port: UInt16, _ error: SystemError) -> Problem {
            Problem(
                description: "port \(port) cannot be opened: \(error)",
                remedy: "free the port, or write another one: bluetoothProxy: {listen: \"*:PORT\"}; it is tried again")
        }
    }

    let identity: ProxyIdentity
    let receiver: Receiver
    private let settings: BluetoothProxySettings
    private let surroundings: ProxySurroundings
    private let onEffect: (RunningProxy, ProxyServer.Effect) -> Void
    private var endpoint: (any ProxyEndpoint)?
    private var publication: AvahiPublication?
    /// What its clients were told of the scanner; nil: nothing yet.
    private var scan: ProxyScan?
    /// The addresses of the Home Assistants that have adopted it.
    private(set) var homes: [String]
    /// Whether a client wants packets.
    private(set) var wantsPackets = false
    /// Why it does not listen, and what to do.
    private(set) var problem: Problem?
    private var nextTry = MonotonicInstant.zero
    private var nextPublication = MonotonicInstant.zero

    init(
        _ identity: ProxyIdentity, _ receiver: Receiver, _ settings: BluetoothProxySettings, homes: [String],
        _ surroundings: ProxySurroundings, onEffect: @escaping (RunningProxy, ProxyServer.Effect) -> Void
    ) {
        (self.identity, self.receiver, self.settings, self.homes) = (identity, receiver, settings, homes)
        (self.surroundings, self.onEffect) = (surroundings, onEffect)
    }

    /// Opens what is not open, at the beginning and now and then.
    ///
    /// - Parameter epochSeconds: nil: the time of day is not known.
    func tick(_ scan: ProxyScan, epochSeconds: Int64?, at now: MonotonicInstant) {
        if endpoint == nil, now >= nextTry { open(epochSeconds: epochSeconds, at: now) }
        guard endpoint != nil else { return }
        tell(scan)
        if publication?.hasEnded == true { publication = nil }
        guard !settings.listen.isLoopback, now >= nextPublication else { return }
        guard let publication else { return publish(at: now) }
        guard publication.mayTryAgain else { return }
        nextPublication = now.advanced(by: Self.pause)
        publication.tryAgain()
    }

    private func open(epochSeconds: Int64?, at now: MonotonicInstant) {
        nextTry = now.advanced(by: Self.pause)
        guard identity.isDistinct else { return problem = .notDistinct }
        guard let secret = settings.key.inFile, let bytes = Base64.bytes(secret.revealed.utf8),
            let key = ProxyKey(bytes)
        else { return problem = .zeroKey }
        var address = settings.listen
        address.port = identity.port
        let (surroundings, allowed) = (surroundings, settings.allowed)
        let opened = surroundings.open(description, key, address) { peer in
            SubscriberRule(surroundings.machine(), allowed: allowed).refusal(of: peer)
        }
        switch opened {
        case .success(let endpoint):
            endpoint.onEffect = { [unowned self] in take($0) }
            self.endpoint = endpoint
            problem = nil
            if let epochSeconds { endpoint.handle(.time(epochSeconds: UInt32(clamping: epochSeconds))) }
            endpoint.handle(.homes(homes))
        case .failure(let error):
            problem = .port(identity.port, error)
        }
    }

    private var description: ProxySettings {
        var description = ProxySettings(
            name: identity.name, friendlyName: identity.friendlyName, macAddress: identity.mac,
            bluetoothAddress: identity.bluetooth, projectVersion: Program.version)
        description.area = identity.area
        description.manufacturer = "ibeacon-gateway"
        description.model = "Bluetooth proxy"
        description.projectName = ProxyIdentity.project
        return description
    }

    private func publish(at now: MonotonicInstant) {
        nextPublication = now.advanced(by: Self.pause)
        let records = identity.records(version: Program.version, esphome: description.esphomeVersion)
        publication = surroundings.publish(
            .init(instance: identity.name, kind: "_esphomelib._tcp", port: identity.port, records: records)
        ) {}
        publication?.start()
    }

    /// Ends it: the clients are told, and Avahi withdraws it.
    func stop() {
        publication?.stop()
        endpoint?.stop()
        (publication, endpoint, wantsPackets) = (nil, nil, false)
    }

    // MARK: - What it takes

    func heard(_ report: AdvertisingReport, _ data: Span<UInt8>) {
        guard wantsPackets else { return }
        endpoint?.handle(.heard(report, data: data.indices.map { data[$0] }))
    }

    func homeAssistantStarted() { endpoint?.handle(.homeAssistantStarted) }

    private func tell(_ scan: ProxyScan) {
        guard scan != self.scan else { return }
        self.scan = scan
        endpoint?.handle(.scan(scan))
    }

    private func take(_ effect: ProxyServer.Effect) {
        switch effect {
        case .listen(let isWanted): wantsPackets = isWanted
        case .adopted(let addresses): homes = addresses
        case .send, .close, .dial, .scanActively, .note: break
        }
        onEffect(self, effect)
    }

    // MARK: - What it shows

    /// Why Avahi does not announce it.
    private var unannounced: String {
        settings.listen.isLoopback
            ? "it listens at \(settings.listen.host) alone, where no other machine reaches it"
            : "there is no system bus"
    }

    var isOpen: Bool { endpoint != nil }

    /// - Parameter isAtBroker: Whether the broker has its announcement.
    func state(isAtBroker: Bool) -> StatusSnapshot.ProxyState {
        var state = StatusSnapshot.ProxyState(
            name: identity.name, adapter: "hci\(receiver.index)", port: identity.port)
        (state.problem, state.remedy) = (problem?.description, problem?.remedy)
        state.isAtBroker = isAtBroker
        state.isAtAvahi = publication?.isPublished ?? false
        state.avahiProblem = publication == nil ? unannounced : publication?.problem
        guard let status = endpoint?.status else { return state }
        state.clients = status.clients.map { client in
            StatusSnapshot.ProxyClient(
                name: client.name, address: client.address, isSubscribed: client.isSubscribed, since: client.since,
                sent: client.sent, dropped: client.dropped, refusal: client.refusal)
        }
        state.homes = status.homes.map { .init(address: $0.address, isConnected: $0.isConnected) }
        state.sent = status.counters.sent
        state.dropped = status.counters.dropped
        state.refused = status.counters.refused
        state.failed = status.counters.failed
        return state
    }
}
