import Base
import Beacon
import Configuration
import JSON
import Messaging
import OwnTracks
import Runtime
import Service
import System

/// Connects to the broker as the service would, beside it, and tries what the service needs to be allowed.
///
/// MQTT 3.1.1 gives a broker no words to refuse a message, so MQTT 5 is spoken where the broker can. Reading is proven
/// by hearing what was sent to the topic for commands: an access list may let us subscribe and then tell us nothing.
final class BrokerSelfTest {
    /// What came of it.
    struct Outcome {
        /// Why there was no connection, if there was none.
        var failure: BrokerFailure?
        /// Topics that the broker refuses messages to, with its words.
        var refused: [(topic: String, reason: String)] = []
        /// Whether the broker lets the gateway read commands; nil if the test could not show it.
        var hearsCommands: Bool?
        /// Whether the broker could say no to a message.
        var canRefuse = false
        /// The rooms service of the site has published its list of tags, and the broker lets us hear it.
        var hearsTags = false
        /// Why the broker refuses readings for the rooms service; nil: it takes them.
        var refusedFeed: (topic: String, reason: String)?
    }

    private enum Step: Int64, CaseIterable { case event = 1, location, feed, command }

    /// For the connection with TLS and login, and then for the answers.
    private static let patience: Duration = .seconds(12)
    /// For the echo of a command, after its acknowledgement.
    private static let echoPatience: Duration = .seconds(3)

    private let configuration: Configuration
    private var outcome = Outcome()
    private var isConnected = false
    private var answered: Set<Step> = []
    private var hasEcho = false
    private var subscriptionRefused = false
    private var isOver = false

    private init(_ configuration: Configuration) { self.configuration = configuration }

    /// Runs the test; blocks for up to half a minute if the broker does not answer.
    static func run(_ configuration: Configuration) throws -> Outcome {
        let modern = BrokerSelfTest(configuration)
        try modern.attempt(level: .v5)
        guard let failure = modern.outcome.failure, failure.isAboutProtocol, configuration.broker.protocolLevel != .v5
        else { return modern.outcome }
        let plain = BrokerSelfTest(configuration)
        try plain.attempt(level: configuration.broker.protocolLevel)
        return plain.outcome
    }

    private func attempt(level: MQTTProtocolLevel) throws {
        let loop = try EventLoop()
        var settings = BrokerSettings(configuration, for: .command("doctor"))
        settings.protocolLevel = level
        // Which level it is, is the question.
        settings.fallsBack = false
        settings.connectTimeout = .seconds(10)
        outcome.canRefuse = level == .v5
        let waker = try loop.waker { [unowned self] in drain() }
        let connection = try BrokerConnection(settings, wake: waker.waker.wake)
        self.connection = connection
        defer { self.connection = nil }
        connection.subscribe(to: Set([tracker.topics.command] + [feed?.tags].compactMap(\.self)))
        try connection.start()
        try loop.step(until: Clocks.now().advanced(by: Self.patience)) {
            isOver || (isConnected && answered.count == steps.count)
        }
        if isConnected, outcome.failure == nil {
            try loop.step(until: Clocks.now().advanced(by: Self.echoPatience)) {
                isOver || hasEcho || subscriptionRefused || !sendsCommand
            }
            judgeReading()
        } else if outcome.failure == nil {
            outcome.failure = .silent
        }
        _ = connection.stop(within: .seconds(2))
    }

    private var connection: BrokerConnection?
    private var tracker: TrackerConfiguration { configuration.trackers[0] }

    /// A gateway with a key would refuse an unencrypted command and log this.
    private var sendsCommand: Bool { configuration.obeysCommands && tracker.encryptionKey == nil }
    private var feed: ReadingFeedLink.Settings? { ReadingFeedLink.Settings(configuration) }
    private var steps: [Step] {
        Step.allCases.filter { step in
            switch step {
            case .event, .location: true
            case .feed: feed != nil
            case .command: sendsCommand
            }
        }
    }

    private func drain() {
        for event in connection?.takeEvents() ?? [] {
            switch event {
            case .connected:
                isConnected = true
                publish()
            case .disconnected(let failure, _):
                outcome.failure = failure
                isOver = true
            // Not every host of the cluster has been tried.
            case .moved(let host):
                if host != configuration.broker.hosts[0] { (outcome.failure, isOver) = (nil, false) }
            case .message(let message):
                if message.topic == tracker.topics.command, !message.retained { hasEcho = true }
                if message.topic == feed?.tags, !message.payload.isEmpty { outcome.hearsTags = true }
            case .acknowledged(let token):
                if let step = Step(rawValue: token.rawValue) { answered.insert(step) }
            case .refused(let token, let refusal):
                guard let step = Step(rawValue: token.rawValue) else { continue }
                answered.insert(step)
                refusedSteps.insert(step)
                switch step {
                case .event, .location: outcome.refused.append((topic(of: step), "\(refusal)"))
                case .feed: outcome.refusedFeed = (topic(of: step), "\(refusal)")
                case .command: break
                }
            case .subscriptionRefused(let filter):
                if filter == tracker.topics.command { subscriptionRefused = true }
            // Only for who asks that messages be taken apart.
            case .commands, .untaken: break
            }
        }
    }

    private var refusedSteps: Set<Step> = []

    /// Last wills are what every reader of these topics knows and none acts on; the command asks a running gateway for
    /// its status, which changes nothing. No rooms service knows version 0 of the feed.
    private func publish() {
        for step in steps {
            let payload: [UInt8] =
                switch step {
                case .event, .location: LastWill(timestamp: Clocks.wallSeconds()).payload.bytes
                case .feed: Array(#"{"v":0}"#.utf8)
                case .command: Array(#"{"_type":"cmd","action":"status"}"#.utf8)
                }
            _ = connection?.publish(
                OutgoingMessage(
                    token: MessageToken(rawValue: step.rawValue), topic: topic(of: step), payload: payload,
                    qos: .atLeastOnce, retain: false))
        }
    }

    private func topic(of step: Step) -> String {
        switch step {
        case .event: tracker.topics.event
        case .location: tracker.topics.base
        case .feed: feed?.heard ?? ""
        case .command: tracker.topics.command
        }
    }

    private func judgeReading() {
        if subscriptionRefused {
            outcome.hearsCommands = false
        } else if hasEcho {
            outcome.hearsCommands = true
        } else if sendsCommand, outcome.canRefuse, !refusedSteps.contains(.command) {
            outcome.hearsCommands = false
        }
    }
}
