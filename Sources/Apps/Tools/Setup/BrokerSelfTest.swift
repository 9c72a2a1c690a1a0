import Base
import Configuration
import GatewayApp
import JSON
import Messaging
import OwnTracks
import Shell
import SiteProtocol
import System

/// Connects to the broker with the settings of the service, in addition to it, and tests the rights that the service
/// needs.
///
/// With MQTT 3.1.1 a broker cannot refuse a message, so the test uses MQTT 5 if the broker supports it. The right to
/// read is tested by sending a message to the command topic and receiving it: a broker may accept a subscription and
/// then deliver nothing.
final class BrokerSelfTest {
    /// The results of the test.
    struct Outcome {
        /// The client id that the test used.
        var clientID = ""
        /// Why the connection failed, if it failed.
        var failure: BrokerFailure?
        /// Topics for which the broker refuses messages, with its reasons.
        var refused: [(topic: String, reason: String)] = []
        /// Whether the gateway may read commands; nil if the test could not determine it.
        var hearsCommands: Bool?
        /// Whether the protocol version lets the broker refuse a message.
        var canRefuse = false
        /// Whether the list of tags of the site's rooms service was received.
        var hearsTags = false
        /// Why the list of tags cannot be decrypted.
        var refusedTags: SealError?
        /// Why the broker refuses readings for the rooms service; nil if it accepts them.
        var refusedFeed: (topic: String, reason: String)?
    }

    private enum Step: CaseIterable { case event, location, feed, command }

    /// Longest time for the connection with TLS and login, and then for the answers.
    private static let patience: Duration = .seconds(12)
    /// Longest time for the echo of a command, after its acknowledgement.
    private static let echoPatience: Duration = .seconds(3)

    private let configuration: Configuration
    private var outcome = Outcome()
    private var hasEcho = false

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
        let filters = Set([tracker.topics.command] + [feed?.tags].compactMap(\.self))
        let link = try CommandConnection(configuration, purpose: "doctor", filters: filters) { settings in
            settings.protocolLevel = level
            // The test must determine the protocol version, so it must not fall back to another.
            settings.fallsBack = false
            settings.connectTimeout = .seconds(10)
            outcome.clientID = settings.clientID
        }
        defer { link.close(within: .seconds(2)) }
        link.onMessage = { [unowned self] in take($0) }
        outcome.canRefuse = level == .v5
        let isConnected = try link.step(Self.patience) { link.isConnected }
        var tokens: [(step: Step, token: MessageToken)] = []
        if isConnected {
            for step in steps {
                let message = Publication(.other, topic: topic(of: step), payload: payload(of: step))
                if let token = link.publish(message) { tokens.append((step, token)) }
            }
            _ = try link.step(Self.patience) { link.unanswered.isEmpty }
            _ = try link.step(Self.echoPatience) {
                hasEcho || !sendsCommand || link.refusedFilters.contains(tracker.topics.command)
            }
        }
        outcome.failure = isConnected ? link.failure : link.failure ?? .silent
        for (step, token) in tokens {
            guard let refusal = link.refusals[token] else { continue }
            switch step {
            case .event, .location: outcome.refused.append((topic(of: step), "\(refusal)"))
            case .feed: outcome.refusedFeed = (topic(of: step), "\(refusal)")
            case .command: break
            }
        }
        let isCommandTaken = !tokens.contains { $0.step == .command && link.refusals[$0.token] != nil }
        if link.refusedFilters.contains(tracker.topics.command) {
            outcome.hearsCommands = false
        } else if hasEcho {
            outcome.hearsCommands = true
        } else if sendsCommand, outcome.canRefuse, isCommandTaken {
            outcome.hearsCommands = false
        }
    }

    private var tracker: TrackerConfiguration { configuration.trackers[0] }

    /// A gateway with a key would refuse an unencrypted command and log this.
    private var sendsCommand: Bool { configuration.obeysCommands && tracker.encryptionKey == .absent }
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

    private func take(_ message: ReceivedMessage) {
        if message.topic == tracker.topics.command, !message.retained { hasEcho = true }
        guard let feed, message.topic == feed.tags, !message.payload.isEmpty else { return }
        outcome.hearsTags = true
        do throws(SealError) { _ = try feed.opened(message.payload) } catch { outcome.refusedTags = error }
    }

    /// A harmless message. All readers of these topics know last wills, and none acts on them. The command requests the
    /// status of a running gateway, which changes nothing. Rooms services ignore the trial of the feed.
    private func payload(of step: Step) -> [UInt8] {
        switch step {
        case .event, .location: LastWill(timestamp: Clocks.wallSeconds()).payload.bytes
        case .feed: feed?.seal.sealed(FeedDecoder.trial, for: topic(of: step)) ?? []
        case .command: Array(#"{"_type":"cmd","action":"status"}"#.utf8)
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
}
