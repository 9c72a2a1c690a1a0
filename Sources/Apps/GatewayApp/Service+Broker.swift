import Base
import Configuration
import Gateway
import Messaging
import OwnTracks
import Runtime
import Shell
import Storage

extension Service {
    /// The limit of unacknowledged messages. The outbox delivers no more.
    static let window = 20

    func connectBroker() {
        let configuration = settings.configuration
        guard !configuration.broker.isOffline else {
            log.notice("offline (port 0): events are kept in the history, nothing is sent")
            return
        }
        let now = host.now
        monitor.connects(at: now)
        do {
            try links.broker.open(
                BrokerSettings(configuration, for: .ownTracks(at: host.wallClock.epochSeconds(at: now))),
                filters: filters, read: keys.read
            ) { [unowned self] in handleBrokerEvents() }
            prepareHomeAssistant()
            prepareReadingFeed()
            // Its messages have no meaning over HTTP.
            guard configuration.broker.endpoint == nil else { return }
            let topic = DeviceTopics.availability(device: configuration.trackers[0].deviceID)
            try links.availability.open(
                BrokerSettings(configuration, for: .availability(topic: topic)), filters: availabilityFilters, read: nil
            ) { [unowned self] in handleAvailabilityEvents() }
        } catch {
            log.error("cannot connect: \(error)")
        }
    }

    func disconnectBroker() {
        closeAvailability()
        // A link without a connection has no DISCONNECT to send, and a look-up or a connect cannot be interrupted.
        links.broker.close(within: links.broker.isConnected ? .seconds(2) : .zero)
        handleBrokerEvents()
        links.store.submit(.window(0))
        // Unfinished messages of that connection are sent on the next one.
        links.store.submit(.redeliver)
    }

    func handleBrokerEvents() {
        for event in links.broker.drainEvents() {
            if monitor.record(event, at: host.now) { statusChanged() }
            switch event {
            case .connected(let sessionPresent): connected(sessionPresent)
            case .disconnected(let failure, let retryIn):
                links.store.submit(.window(0))
                log.once("broker", .warning, "no \(otherSide): \(failure); next try in \(decimal(retryIn)) s")
            case .moved(let host):
                log.notice("the next try is at \(settings.configuration.broker.place(of: host))")
            case .message(let message):
                guard message.topic == homeAssistantTopic, message.payload == Array("online".utf8) else { continue }
                handle(.homeAssistantStarted, at: host.now)
            case .decoded(let message):
                if let commands = message.content as? ReceivedCommands { handle(commands) }
            case .acknowledged(let token): links.store.submit(.acknowledged(token.rawValue))
            case .refused(let token, let refusal):
                log.once("refused", .warning, "a message is set aside: \(refusal)")
                links.store.submit(.refused(token.rawValue, reason: "\(refusal)"))
            case .untaken(let message): report(message)
            case .subscriptionRefused(let filter):
                log.once("subscription", .warning, "the broker refuses to send us \(filter); commands cannot arrive")
            case .subscribed: break
            }
        }
    }

    private func connected(_ sessionPresent: Bool) {
        let broker = settings.configuration.broker
        log.notice("connected to \(monitor.brokerName(broker))")
        links.store.submit(.window(Self.window))
        keepPendingConfiguration()
        handle(.brokerConnected(isNew: !sessionPresent), at: host.now)
    }

    private func report(_ message: UntakenMessage) {
        switch message {
        case .dropped(let topic, let size):
            log.once("oversize", .error, "a message of \(size) bytes on \(topic) is too large and was dropped")
        case .sessionDiscarded(let failure):
            log.once(
                "session", .error,
                "\(failure); it is told to forget the session, and with it all commands that wait for us")
        case .subscriptionsWithheld(let time):
            log.once(
                "oversize retained", .error,
                "the broker retains a message on /cmd that is too large; no commands are heard for \(decimal(time)) s")
        }
    }

    private func handle(_ message: ReceivedCommands) {
        guard let tracker = gateway.trackers.firstIndex(where: { $0.topics.command.hasSameBytes(as: message.topic) })
        else { return }
        for (place, command) in message.commands.enumerated() {
            let received = ReceivedCommand(
                tracker: tracker, command: command, isRetained: message.retained, wasEncrypted: message.wasEncrypted,
                digest: message.digest?.command(at: place))
            handle(.command(received), at: host.now)
        }
    }

    private var otherSide: String { settings.configuration.broker.endpoint == nil ? "broker" : "server" }

    /// Hands messages from the outbox, which are on the disk by now, to the broker.
    func deliver(_ rows: [OutboxRow]) {
        let now = host.now
        for row in rows {
            // Messages outside OwnTracks' tree that were stored for an MQTT broker have no meaning over HTTP.
            if settings.configuration.broker.endpoint != nil, !row.publication.kind.isOwnTracks {
                links.store.submit(.acknowledged(row.id))
                continue
            }
            monitor.handedOver(row.id, at: now)
            // There is room, because the store delivers no more than the window.
            let isTaken = links.broker.publish(row.publication, as: MessageToken(rawValue: row.id))
            if !isTaken { log.once("queue", .error, "the broker's queue is full") }
        }
    }

    /// The topics of commands, and the topic on which Home Assistant announces its start.
    var filters: Set<String> {
        var topics: Set = [homeAssistantTopic]
        if settings.configuration.obeysCommands { topics.formUnion(gateway.trackers.map(\.topics.command)) }
        return topics
    }

    private var homeAssistantTopic: String { settings.configuration.homeAssistant.prefix + "/status" }
}
