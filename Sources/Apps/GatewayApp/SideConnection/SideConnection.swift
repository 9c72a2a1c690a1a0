import Base
import Configuration
import Gateway
import Messaging
import Shell

/// The second connection to the broker. It carries what is not OwnTracks': the availability, Home Assistant, the readings for
/// the rooms service and the keys of phones. Each of these is a part, which this connection passes what happens.
final class SideConnection {
    private unowned let app: App<Gateway>
    private let link: any BrokerLink
    /// In the order in which they publish on a new connection.
    private var parts: [any SidePart] = []
    /// What the parts ask.
    private(set) weak var owner: (any SidePartOwner)?

    init(_ link: any BrokerLink, of app: App<Gateway>) { (self.link, self.app) = (link, app) }

    /// - Parameter parts: In the order in which they publish on a new connection.
    func carry(_ parts: [any SidePart], for owner: (any SidePartOwner)?) { (self.parts, self.owner) = (parts, owner) }

    var isConnected: Bool { link.isConnected }
    /// The topic of the availability on this connection, and what the broker publishes there if it ends; nil: there was none yet.
    var will: BrokerSettings.Will? { link.settings?.will }

    // MARK: - Opening and closing

    /// Opens the connection with the settings in force. Over HTTP there is none: its messages have no meaning there.
    ///
    /// - Throws: if no thread or descriptor is left.
    func open() throws {
        for part in parts { part.prepare() }
        app.forgetRefusals(on: "availability")
        let configuration = app.settings.configuration
        guard configuration.broker.endpoint == nil else { return }
        let topic = DeviceTopics.availability(device: configuration.trackers[0].deviceID)
        try link.open(
            BrokerSettings(configuration, for: .availability(topic: topic)), filters: filters, read: nil
        ) { [unowned self] in handleEvents() }
    }

    /// - Parameter waits: At the end of the service; otherwise the connection ends by itself.
    func close(waits: Bool) {
        for part in parts { part.leaving() }
        let patience: Duration = link.isConnected ? .seconds(2) : .zero
        if waits { link.close(within: patience) } else { link.retire(within: patience) }
        for part in parts { part.disconnected(at: app.host.now) }
    }

    // MARK: - What the parts do

    private var filters: Set<String> { parts.reduce(into: []) { $0.formUnion($1.filters) } }

    /// The subscriptions of a part may have changed.
    func subscribe() { link.subscribe(to: filters) }

    /// - Parameter token: nil: the part does not wait for the answer.
    /// - Returns: false if the queue is full or the connection is closed.
    func publish(_ publication: Publication, as token: SideToken? = nil) -> Bool {
        link.publish(publication, as: token?.message ?? .unawaited)
    }

    // MARK: - Events

    func handleEvents() {
        for event in link.drainEvents() {
            let now = app.host.now
            app.recordRefusals(in: event, of: link.settings, at: now)
            switch event {
            case .connected: for part in parts { part.connected(at: now) }
            case .disconnected: for part in parts { part.disconnected(at: now) }
            case .acknowledged(let message):
                let token = SideToken(message)
                for part in recipients(of: token) { part.answered(token) }
            case .refused(let message, _):
                let token = SideToken(message)
                for part in recipients(of: token) { part.refused(token) }
            case .message(let message): _ = parts.first { $0.received(message, at: now) }
            case .moved, .decoded, .dropped, .postponed, .subscribed, .subscriptionRefused, .refusal, .admitted,
                .limited, .steppedAside, .wantsMessage, .answered:
                break
            }
        }
    }

    /// The part whose message it was; all, if no part waits for the answer.
    private func recipients(of token: SideToken?) -> [any SidePart] {
        token.map { token in parts.filter { $0.name == token.part } } ?? parts
    }
}
