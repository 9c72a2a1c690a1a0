import Base
import Configuration
import Gateway
import Health
import JSON
import Messaging
import Shell
import Storage

/// The part of the second connection by which Home Assistant finds the Bluetooth proxies: a retained message for each, which is
/// emptied when the proxy is switched off or has another name, also if that happened while the broker was away.
final class ProxyAnnouncementPart: SidePart {
    /// The key of the store under which it has the names that may stand at the broker.
    static let storeKey = "bluetooth proxies"
    /// More are forgotten, the earliest first.
    private static let mostNames = 16

    let name = SidePartName.proxies
    private unowned let app: App<Gateway>
    private unowned let side: SideConnection
    private var tokens = SideTokens(.proxies)
    /// What is to stand at the broker, by the name of the proxy.
    private var wanted: [String: [UInt8]] = [:]
    /// What was sent on this connection.
    private var sent: [String: [UInt8]] = [:]
    /// What of it the broker has.
    private var acknowledged: [String: [UInt8]] = [:]
    /// What was sent and has no answer yet.
    private var waiting: [SideToken: (name: String, payload: [UInt8])] = [:]
    /// The names that may stand at the broker, oldest first.
    private var names: [String] = []
    /// A Home Assistant has started.
    var onBirth: (() -> Void)?

    init(_ app: App<Gateway>, _ side: SideConnection) { (self.app, self.side) = (app, side) }

    /// - Parameter bytes: What was stored under `storeKey`.
    func restore(_ bytes: [UInt8]?) {
        names = bytes.flatMap { try? JSONValue(parsing: $0) }?.array?.compactMap(\.string) ?? []
    }

    /// Sets what is to stand at the broker, by the name of the proxy. Everything else that this gateway published there is emptied.
    func announce(_ wanted: [String: [UInt8]]) {
        guard wanted != self.wanted else { return }
        let isNewlyOn = self.wanted.isEmpty != wanted.isEmpty
        self.wanted = wanted
        if isNewlyOn { side.subscribe() }
        send()
    }

    /// Whether the broker has the announcement of a proxy.
    func isAnnounced(_ name: String) -> Bool { wanted[name] != nil && acknowledged[name] == wanted[name] }

    // MARK: - The connection

    var filters: Set<String> { wanted.isEmpty ? [] : births }

    private var births: Set<String> {
        DiscoveryTopics.births(prefix: app.settings.configuration.homeAssistant.prefix)
    }

    func connected(at now: MonotonicInstant) { send() }

    func disconnected(at now: MonotonicInstant) { (sent, acknowledged, waiting) = ([:], [:], [:]) }

    /// - Returns: false always: Home Assistant's part may wait for the same message.
    func received(_ message: ReceivedMessage, at now: MonotonicInstant) -> Bool {
        // A retained message tells of an earlier start.
        guard !wanted.isEmpty, births.contains(message.topic), !message.retained,
            message.payload.elementsEqual("online".utf8)
        else { return false }
        onBirth?()
        return false
    }

    func answered(_ token: SideToken?) {
        if let (name, payload) = token.flatMap({ waiting.removeValue(forKey: $0) }) {
            acknowledged[name] = payload
            // Another announcement may be on its way behind it.
            if wanted[name] == nil, payload.isEmpty, sent[name] == payload {
                change { $0.removeAll { $0.hasSameBytes(as: name) } }
            }
        }
        send()
    }

    /// The broker has what it had before. Its name stays, so that the next connection tries again.
    func refused(_ token: SideToken?) {
        if let token { waiting[token] = nil }
        send()
    }

    private func send() {
        guard side.isConnected else { return }
        for name in wanted.keys.sorted() where !names.contains(where: { $0.hasSameBytes(as: name) }) {
            change { $0.append(name) }
        }
        for name in names {
            let payload = wanted[name] ?? []
            guard sent[name] != payload else { continue }
            let token = tokens.next()
            let topic = ProxyIdentity.topic(of: name)
            let message = Publication(.state, topic: topic, payload: payload, isRetained: true)
            // Without room in the queue it is tried again at the next answer.
            guard side.publish(message, as: token) else { return }
            sent[name] = payload
            waiting[token] = (name, payload)
        }
    }

    private func change(_ change: (inout [String]) -> Void) {
        change(&names)
        names = names.suffix(Self.mostNames).map(\.self)
        let bytes = JSONValue.array(names.map { .string($0) }).bytes
        app.links.store.submit(.commit([.value(key: Self.storeKey, bytes)]))
    }
}
