import Base
import Configuration
import GatewayApp
import Messaging
import OwnTracks
import RoomsApp
import Shell
import System

/// The rights at the broker: each topic that the services use, and the line of an access list for each right that is missing.
enum BrokerRightsCheck {
    /// The topics of the gateway, and of the rooms service where this machine starts one.
    static func usedTopics(_ configuration: Configuration) -> [UsedTopic] {
        let now = Clocks.wallSeconds()
        let gateway = GatewayTopics.used(configuration, at: now)
        guard SystemService.rooms.isEnabled || SystemService.rooms.isRunning else { return gateway }
        let rooms = RoomTopics.used(configuration, at: now)
        // Where the rooms service uses a topic, its right is needed, and it is the wider one.
        return gateway.filter { topic in !rooms.contains { $0.covers(topic) } } + rooms
    }

    static func rights(
        _ outcome: BrokerSelfTest.Outcome, _ topics: [UsedTopic], _ configuration: Configuration
    ) -> [DoctorFinding] {
        let tracker = configuration.trackers[0].topics
        let user = configuration.broker.username ?? "(anonymous)"
        let lacking = topics.flatMap { missing(of: $0, outcome, tracker.command, for: user) }
        var findings = lacking
        let isOwn = { (topic: String) in topic.hasPrefix(tracker.base + "/") || topic == tracker.base }
        if !outcome.refused.contains(where: { isOwn($0.topic) }) {
            let text = "it takes messages to \(tracker.base) and \(tracker.event)"
            findings.append(
                DoctorFinding(
                    .broker, outcome.canRefuse ? text : text + ", as far as a broker without MQTT 5 can tell"))
        }
        if let feed = ReadingFeedSettings(configuration) { findings.append(rooms(outcome, feed, user)) }
        guard configuration.obeysCommands else { return findings }
        return findings + [commands(outcome, tracker, user)]
    }

    private static func commands(
        _ outcome: BrokerSelfTest.Outcome, _ tracker: Topics, _ user: String
    ) -> DoctorFinding {
        switch outcome.hearsCommands {
        case true?: return DoctorFinding(.broker, "commands on \(tracker.command) arrive")
        case nil:
            return DoctorFinding(.broker, "this test cannot show whether commands on \(tracker.command) arrive")
        case false?:
            let refused = outcome.filterRefusals[tracker.command]
            let text = "commands on \(tracker.command) do not arrive" + (refused.map { ": \($0.reason)" } ?? "")
            let remedy = remedy(refused?.cause, "let '\(user)' read it", "topic readwrite \(tracker.base)/#")
            return DoctorFinding(.broker, text, remedy: remedy)
        }
    }

    /// A line of an access list helps only where a right is missing.
    ///
    /// - Parameters:
    ///   - cause: nil: the broker names none.
    ///   - right: What the login has to be allowed.
    ///   - line: As in mosquitto's `acl_file`.
    private static func remedy(_ cause: Refused.Cause?, _ right: String, _ line: String) -> String {
        switch cause ?? .rights {
        case .rights: "\(right); in mosquitto's acl_file: \(line)"
        case .quota: "look at the broker's quotas, its disk and its log"
        case .unsupported: "change the broker's own settings: they forbid this to every login"
        }
    }

    /// What is refused on one topic other than the command topic.
    private static func missing(
        of topic: UsedTopic, _ outcome: BrokerSelfTest.Outcome, _ command: String, for user: String
    ) -> [DoctorFinding] {
        guard topic.isNeeded else { return [] }
        func remedy(_ right: String, _ cause: Refused.Cause? = nil) -> String {
            self.remedy(cause, "let '\(user)' \(right) there", topic.line)
        }
        var findings: [DoctorFinding] = []
        for probe in topic.probes {
            for refused in outcome.refused where refused.topic == probe.topic {
                findings.append(
                    DoctorFinding(
                        .broker, "messages to \(probe.topic) are refused: \(refused.reason)",
                        remedy: remedy("write", refused.cause)))
            }
        }
        for filter in topic.filters where filter != command && outcome.refusedFilters.contains(filter) {
            let refused = outcome.filterRefusals[filter]
            let text = "the subscription to \(filter) is refused" + (refused.map { ": \($0.reason)" } ?? "")
            findings.append(DoctorFinding(.broker, text, remedy: remedy("read", refused?.cause)))
        }
        for probe in topic.probes where outcome.undelivered.contains(probe.topic) {
            findings.append(
                DoctorFinding(.broker, "messages on \(probe.topic) do not arrive here", remedy: remedy("read")))
        }
        return findings
    }

    /// Without a rooms service, the rights for it are not needed.
    private static func rooms(
        _ outcome: BrokerSelfTest.Outcome, _ feed: ReadingFeedSettings, _ user: String
    ) -> DoctorFinding {
        guard outcome.hearsTags else {
            return DoctorFinding(.broker, "no rooms service lists tags on \(feed.tags), so no readings are published")
        }
        if let reason = outcome.refusedTags {
            return DoctorFinding(
                .broker, "the list of tags on \(feed.tags) cannot be read: \(reason)",
                remedy: "give this gateway the key that the rooms service has, as rooms.encryptionKeyFile")
        }
        guard let (topic, refusal) = outcome.refusedFeed else {
            return DoctorFinding(
                .broker, "a rooms service decides about site '\(feed.site)'; readings go to \(feed.heard)")
        }
        return DoctorFinding(
            .broker, "the rooms service gets no readings: messages to \(topic) are refused: \(refusal.reason)",
            remedy: remedy(
                refusal.cause, "let '\(user)' write there", "topic write \(feed.heard), and topic write \(feed.card)"))
    }

    /// Bytes of a packet that a transition or a state does not exceed. A list of regions may.
    private static let modestPacket: UInt32 = 16_384

    /// Limits of the broker that stop messages.
    static func limits(_ limits: BrokerLimits, _ broker: Broker) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        if let highest = limits.highestQoS, highest < broker.qos {
            findings.append(
                DoctorFinding(
                    .broker, "it takes no messages of quality \(broker.qos.rawValue), only up to \(highest.rawValue)",
                    remedy: "raise the broker's limit (mosquitto: max_qos), or set \"pubQos\": \(highest.rawValue)"))
        }
        if let largest = limits.largestPacket, largest < modestPacket {
            findings.append(
                DoctorFinding(
                    .broker, "it takes no messages over \(largest) bytes",
                    remedy: "raise the broker's limit (mosquitto: max_packet_size); larger messages are set aside"))
        }
        if !limits.retains {
            findings.append(
                DoctorFinding(
                    .broker, "it retains no messages, so that Home Assistant knows nothing after a restart",
                    remedy: "let the broker retain messages (mosquitto: retain_available true)"))
        }
        return findings
    }
}

extension UsedTopic {
    /// Whether this pattern has all topics of another, and its right.
    fileprivate func covers(_ other: UsedTopic) -> Bool {
        let isBelow = pattern.hasSuffix("/#") && other.pattern.hasPrefix(pattern.dropLast())
        let isWider = isBelow || pattern == other.pattern
        return isWider && (access == .readwrite || access == other.access) && other.probes.isEmpty
    }
}
