import Base
import Configuration
import Messaging
import Shell
import System

/// Whether the gateway describes itself to Home Assistant. Home Assistant is recognised by what is retained below its prefix, which
/// its devices write, or by its birth message.
struct HomeAssistantQuestion {
    let arguments: Arguments
    let dialogue: Dialogue

    /// Whether an option answers it.
    var given: Bool? {
        arguments.has("home-assistant") ? true : arguments.has("no-home-assistant") ? false : nil
    }

    /// - Parameter configuration: With the broker and its login; nil: there is no broker to look at.
    /// - Returns: nil if the broker could not be looked at.
    func answer(lookingAt configuration: Configuration?) throws -> Bool? {
        if let given { return given }
        guard let configuration else { return try ask(isSeen: false) }
        guard let isSeen = try Self.isSeen(configuration) else { return nil }
        if isSeen { dialogue.show("Home Assistant uses this broker.") }
        return try ask(isSeen: isSeen)
    }

    private func ask(isSeen: Bool) throws -> Bool {
        try dialogue.confirm("Should Home Assistant show this gateway and its beacons?", isSeen)
    }

    private static let birth = DiscoveryTopics.defaultBirth
    private static let filters = DiscoveryTopics.all(prefix: DiscoveryTopics.defaultPrefix).union([birth])
    /// Time for retained messages after the broker has accepted the subscriptions.
    private static let patience: Duration = .milliseconds(1500)

    /// Whether a message at the broker is one of Home Assistant, or for it.
    static func isSign(topic: String, payload: [UInt8], isRetained: Bool) -> Bool {
        topic == birth ? payload == Array("online".utf8) : isRetained && !payload.isEmpty
    }

    /// - Returns: nil without a connection.
    private static func isSeen(_ configuration: Configuration) throws -> Bool? {
        let broker = configuration.broker
        guard
            broker.hosts.contains(where: { host in
                if case .reached = HostReach.probe(host, port: broker.port) { true } else { false }
            })
        else { return nil }
        let link = try CommandConnection(configuration, purpose: "setup", filters: filters)
        defer { link.close(within: .zero) }
        var isSeen = false
        link.onMessage = {
            isSeen = isSeen || isSign(topic: $0.topic, payload: Array($0.payload), isRetained: $0.retained)
        }
        guard try link.step(.seconds(12), until: { link.isConnected && link.pendingFilters.isEmpty }) else {
            return nil
        }
        _ = try link.step(patience) { isSeen }
        return isSeen
    }
}
