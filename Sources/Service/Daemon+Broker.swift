import Base
import Beacon
import Configuration
import Gateway
import Messaging
import OwnTracks
import Runtime
import Storage
import System

extension Daemon {
    /// Messages that may be with the broker unacknowledged; the outbox hands out no more.
    static let window = 20

    func drainBroker() {
        for event in broker?.takeEvents() ?? [] {
            note(event)
            switch event {
            case .connected(let sessionPresent): connected(sessionPresent)
            case .disconnected(let failure, let retryIn):
                isBrokerConnected = false
                store?.submit(.window(0))
                log.once("broker", .warning, "no broker: \(failure); next try in \(decimal(retryIn)) s")
            case .message(let message): receive(message)
            case .commands(let commands): obey(commands)
            case .acknowledged(let token): store?.submit(.acknowledged(token.rawValue))
            case .refused(let token, let refusal):
                log.once("refused", .warning, "a message is set aside: \(refusal)")
                store?.submit(.refused(token.rawValue, reason: "\(refusal)"))
            case .subscriptionRefused(let filter):
                log.once("subscription", .warning, "the broker will not let us hear \(filter); commands cannot arrive")
            }
        }
    }

    private func connected(_ sessionPresent: Bool) {
        isBrokerConnected = true
        let broker = settings.configuration.broker
        log.notice("connected to \(broker.host):\(broker.port)")
        store?.submit(.window(Self.window))
        keep()
        take(.brokerConnected(isNew: !sessionPresent), at: Clocks.now())
    }

    /// Messages from the outbox, on the disk by now.
    func deliver(_ rows: [OutboxRow]) {
        let now = Clocks.now()
        for row in rows {
            desk.handedOver(row.id, at: now)
            let message = Messaging.OutgoingMessage(
                token: MessageToken(rawValue: row.id), topic: row.message.topic, payload: row.message.payload,
                qos: QoS(rawValue: row.message.qos) ?? .atLeastOnce, retain: row.message.retain)
            // There is room: the store hands out no more than the window.
            if broker?.publish(message) == false { log.once("queue", .error, "the broker's queue is full") }
        }
    }

    /// Where commands come in.
    func subscribe() {
        var topics = [(homeAssistantTopic, QoS.atLeastOnce)]
        if settings.configuration.obeysCommands {
            topics += gateway.trackers.map { ($0.topics.command, QoS.atLeastOnce) }
        }
        broker?.subscribe(to: Dictionary(topics) { first, _ in first })
    }

    private func receive(_ message: ReceivedMessage) {
        guard message.topic == homeAssistantTopic, message.payload == Array("online".utf8) else { return }
        take(.homeAssistantStarted, at: Clocks.now())
    }

    private func obey(_ message: ReceivedCommands) {
        guard let tracker = gateway.trackers.firstIndex(where: { $0.topics.command == message.topic }) else { return }
        for command in message.commands {
            let received = ReceivedCommand(
                tracker: tracker, command: command, isRetained: message.retained, wasEncrypted: message.wasEncrypted)
            take(.command(received), at: Clocks.now())
        }
    }

    /// Where Home Assistant says that it has started.
    private var homeAssistantTopic: String { settings.configuration.homeAssistant.prefix + "/status" }

    // MARK: - Availability

    func drainAvailability() {
        for event in availability?.takeEvents() ?? [] {
            noteHome(event)
            if case .disconnected = event { isAvailabilityConnected = false }
            guard case .connected = event else { continue }
            isAvailabilityConnected = true
            homeConnected()
            sayAvailability("online")
        }
    }

    /// Tells the home that we go on purpose; the broker would only tell it of an accident.
    func sayGoodbye() {
        sayAvailability("offline")
        _ = availability?.stop(within: isAvailabilityConnected ? .seconds(2) : .zero)
        isAvailabilityConnected = false
    }

    private func sayAvailability(_ state: String) {
        _ = availability?.publish(
            Messaging.OutgoingMessage(
                token: MessageToken(rawValue: 0), topic: availabilityTopic,
                payload: Array(state.utf8), qos: .atLeastOnce, retain: true))
    }
}
