import Base
import Configuration
import GatewayApp
import JSON
import Messaging
import OwnTracks
import RoomsApp
import Shell
import SiteProtocol
import System

/// Connects to the broker with the settings of the service, in addition to it, and tests the rights that the services
/// need: for each topic that they use with this configuration.
///
/// With MQTT 3.1.1 a broker cannot refuse a message, so the test uses MQTT 5 if the broker supports it. The right to
/// read is tested by sending a message and receiving it, where the service may do both: a broker may accept a subscription and
/// then deliver nothing. The messages are sent one after the other, so that one at which the broker ends the connection is known.
final class BrokerSelfTest {
    /// The results of the test.
    struct Outcome {
        /// The client id that the test used.
        var clientID = ""
        /// Why the connection failed, if it failed.
        var failure: BrokerFailure?
        /// Topics for which the broker refuses messages, with its reasons.
        var refused: [(topic: String, reason: String, cause: Refused.Cause)] = []
        /// Filters to which it refuses subscriptions.
        var refusedFilters: Set<String> = []
        /// With their reasons, where the broker gives one.
        var filterRefusals: [String: Refused] = [:]
        /// Topics of messages that it took and did not deliver back.
        var undelivered: Set<String> = []
        /// Whether the gateway may read commands; nil if the test could not determine it.
        var hearsCommands: Bool?
        /// Whether the protocol version lets the broker refuse a message.
        var canRefuse = false
        /// Whether the list of tags of the site's rooms service was received.
        var hearsTags = false
        /// Why the list of tags cannot be decrypted.
        var refusedTags: SealError?
        /// Why the broker refuses readings for the rooms service; nil if it accepts them.
        var refusedFeed: (topic: String, refusal: Refusal)?
        var limits = BrokerLimits.none
    }

    /// Longest time for the connection with TLS and login, and then for the answers.
    private static let patience: Duration = .seconds(12)
    /// Longest time for the echo of a message, after its acknowledgement.
    private static let echoPatience: Duration = .seconds(3)
    /// Topics at which the broker may end the connection, until the test gives up.
    private static let mostFatal = 5

    private let configuration: Configuration
    private let topics: [UsedTopic]
    /// Topics of messages at which the broker ended the connection of an earlier attempt.
    private let fatal: Set<String>
    private var outcome = Outcome()
    private var echoes: Set<String> = []
    /// The message at which the broker ended this connection.
    private var fatalTopic: String?

    /// Whether the test has the client id of the service.
    private let isService: Bool

    private init(_ configuration: Configuration, _ topics: [UsedTopic], fatal: Set<String>, isService: Bool) {
        (self.configuration, self.topics, self.fatal, self.isService) = (configuration, topics, fatal, isService)
    }

    /// Runs the test; blocks for up to half a minute if the broker does not answer.
    ///
    /// - Parameter isServiceRunning: Otherwise a broker that admits no further client id is tested with that of the service.
    static func run(
        _ configuration: Configuration, _ topics: [UsedTopic], isServiceRunning: Bool
    ) throws -> Outcome {
        let beside = try run(configuration, topics, isService: false)
        guard !isServiceRunning, beside.failure?.mayBeClientID == true else { return beside }
        let own = try run(configuration, topics, isService: true)
        return own.failure == nil ? own : beside
    }

    private static func run(
        _ configuration: Configuration, _ topics: [UsedTopic], isService: Bool
    ) throws -> Outcome {
        let own = configuration.broker.protocolLevel
        var levels = LevelChoice(preferred: .v5, fallback: own == .v5 ? .v3_1_1 : own)
        var fatal: Set<String> = []
        while true {
            let test = BrokerSelfTest(configuration, topics, fatal: fatal, isService: isService)
            try test.attempt(level: levels.level)
            if let failure = test.outcome.failure {
                test.outcome.failure = levels.cause(of: failure)
                if levels.failed(failure) == .atOnce { continue }
            }
            if let topic = test.fatalTopic, fatal.count < mostFatal {
                fatal.insert(topic)
                continue
            }
            let reason = "the broker ends the connection when it is sent"
            test.outcome.refused += fatal.sorted().map { ($0, reason, .rights) }
            return test.outcome
        }
    }

    private func attempt(level: MQTTProtocolLevel) throws {
        let command = tracker.topics.command
        let link = try CommandConnection(
            configuration, purpose: "doctor", filters: Set(topics.flatMap(\.filters)), survivesLosses: true
        ) { settings in
            settings.protocolLevel = level
            // The test must determine the protocol version, so it must not fall back to another.
            settings.fallsBack = false
            settings.connectTimeout = .seconds(10)
            if isService { settings.clientID = configuration.broker.clientID }
            outcome.clientID = settings.clientID
        }
        defer { link.close(within: .seconds(2)) }
        link.onMessage = { [unowned self] in take($0) }
        outcome.canRefuse = level == .v5
        guard try link.step(Self.patience, until: { link.isConnected }) else {
            return outcome.failure = link.failure ?? .silent
        }
        _ = try link.step(Self.patience) { link.pendingFilters.isEmpty }
        outcome.limits = link.limits
        (outcome.refusedFilters, outcome.filterRefusals) = (link.refusedFilters, link.filterRefusals)
        var taken: Set<String> = []
        for message in messages where !fatal.contains(message.topic) {
            guard let isTaken = try send(message, by: link) else { return }
            if isTaken { taken.insert(message.topic) }
        }
        let expected = self.expected.intersection(taken).filter { !link.refusedFilters.contains(filter(of: $0)) }
        _ = try link.step(Self.echoPatience) { expected.isSubset(of: echoes) }
        outcome.failure = link.failure
        if outcome.canRefuse { outcome.undelivered = expected.subtracting(echoes) }
        if link.refusedFilters.contains(command) || outcome.undelivered.contains(command) {
            outcome.hearsCommands = false
        } else if echoes.contains(command) {
            outcome.hearsCommands = true
        }
        try testFeed(by: link)
    }

    /// Sends a message and waits for the answer.
    ///
    /// - Returns: Whether the broker took it; nil: the connection ended.
    private func send(_ message: Publication, by link: CommandConnection) throws -> Bool? {
        let losses = link.losses
        guard let token = link.publish(message) else { return false }
        let isAnswered = try link.step(Self.patience) {
            !link.unanswered.contains(token) || link.losses > losses
        }
        if link.losses > losses {
            if let loss = link.lastLoss, loss.isClientID {
                outcome.failure = loss
            } else {
                fatalTopic = message.topic
            }
            return nil
        }
        guard isAnswered else {
            outcome.failure = link.failure ?? .unacknowledged
            return nil
        }
        guard let refusal = link.refusals[token] else { return true }
        if message.topic != tracker.topics.command {
            outcome.refused.append((message.topic, refusal.reason, refusal.cause))
        }
        return false
    }

    /// Without a rooms service there is nothing to test.
    private func testFeed(by link: CommandConnection) throws {
        guard let feed, outcome.hearsTags else { return }
        let payload = feed.seal.sealed(FeedDecoder.trial, for: feed.heard)
        guard let token = link.publish(Publication(.other, topic: feed.heard, payload: payload)) else { return }
        _ = try link.step(Self.patience) { !link.unanswered.contains(token) }
        if let refusal = link.refusals[token] { outcome.refusedFeed = (feed.heard, refusal) }
    }

    private var tracker: TrackerConfiguration { configuration.trackers[0] }

    /// A gateway with a key would refuse an unencrypted command and log this.
    private var sendsCommand: Bool { configuration.obeysCommands && tracker.encryptionKey == .absent }
    private var feed: ReadingFeedSettings? { ReadingFeedSettings(configuration) }

    /// The probes, and a command that requests the status of a running gateway, which changes nothing.
    private var messages: [Publication] {
        let command = Array(#"{"_type":"cmd","action":"status"}"#.utf8)
        return topics.flatMap(\.probes)
            + (sendsCommand ? [Publication(.other, topic: tracker.topics.command, payload: command)] : [])
    }

    /// Topics whose messages come back.
    private var expected: Set<String> {
        let patterns = topics.filter { $0.filters == [$0.pattern] }
        return Set(patterns.flatMap(\.probes).map(\.topic)).union(sendsCommand ? [tracker.topics.command] : [])
    }

    /// The filter through which messages on a topic come back.
    private func filter(of topic: String) -> String {
        topics.first { $0.probes.contains { $0.topic == topic } }?.filters.first ?? topic
    }

    private func take(_ message: ReceivedMessage) {
        if !message.retained { echoes.insert(message.topic) }
        guard let feed, message.topic == feed.tags, !message.payload.isEmpty else { return }
        outcome.hearsTags = true
        do throws(SealError) { _ = try feed.opened(message.payload) } catch { outcome.refusedTags = error }
    }
}
