package import Base
package import Configuration
package import Health
package import Messaging
import OwnTracks

/// The state of the connection to the broker for the status. It also detects a connection that exists but does not
/// work.
package struct BrokerWatch {
    /// Much longer than a working broker takes for an acknowledgement.
    private static let patience: Duration = .seconds(5)
    /// This many connections that ended within `memory` have a common cause. Two gateways with one client id disconnect
    /// each other for ever: four times within `memory`, even with the longest back-off.
    private static let mostLosses = 3
    private static let memory: Duration = .seconds(300)

    private var phase = BrokerState.Phase.connecting
    private var failure: BrokerFailure?
    private var since: MonotonicInstant
    /// The host of the cluster that is connected or tried next; nil: the first.
    private var host: String?
    private var nextTry: MonotonicInstant?
    /// The broker has accepted a connection with these settings, so the settings are not wrong.
    private var wasConnected = false
    /// The unacknowledged messages. At most as many as the widest window.
    private var unanswered: [Int64: HandedOver] = [:]
    /// The reason codes of the messages among them that the broker refused for now.
    private var postponed: [Int64: UInt8] = [:]
    /// The messages among them that stepped aside.
    private var aside: [Int64: Aside] = [:]
    /// The latest message from the broker that was dropped.
    private var dropped: (message: DroppedMessage, at: MonotonicInstant)?
    /// When the latest connections ended, the newest last.
    private var losses: [MonotonicInstant] = []
    /// What the broker limits on this connection, or on the next one if it has said so already.
    private var limits = BrokerLimits.none
    /// When messages that were set aside because of a limit were last tried again, and the limits then.
    private var readmission: (at: MonotonicInstant, limits: BrokerLimits)?
    /// So long after a trial another one needs no other limits: a broker need not announce its limits.
    private static let readmissionPeriod: Duration = .seconds(600)

    /// A message of the outbox that is on its way.
    private struct HandedOver {
        let topic: String
        let at: MonotonicInstant
    }

    /// A message that the server did not accept, although it accepts others.
    private struct Aside {
        let topic: String
        let reason: String
    }

    package init(at now: MonotonicInstant) { since = now }

    /// A new connection begins, possibly with other settings.
    package mutating func connects(at now: MonotonicInstant) { self = Self(at: now) }

    package mutating func handedOver(_ token: Int64, on topic: String, at now: MonotonicInstant) {
        unanswered[token] = HandedOver(topic: topic, at: now)
    }

    /// The topic of a message that is not acknowledged; nil if it is of no outbox.
    func topic(of token: MessageToken) -> String? { unanswered[token.rawValue]?.topic }

    /// - Returns: whether it changes more than a number.
    package mutating func record(_ event: BrokerEvent, at now: MonotonicInstant) -> Bool {
        switch event {
        case .connected:
            (phase, failure, nextTry, since, wasConnected) = (.connected, nil, nil, now, true)
        case .disconnected(let failure, let retryIn):
            if phase == .connected { losses = losses.suffix(Self.mostLosses - 1) + [now] }
            // Another failed attempt belongs to the same failure.
            if phase != .disconnected { since = now }
            (phase, self.failure, nextTry) = (.disconnected, failure, now.advanced(by: retryIn))
            limits = .none
        case .acknowledged(let token), .refused(let token, _):
            unanswered[token.rawValue] = nil
            let wasAside = aside.removeValue(forKey: token.rawValue) != nil
            return wasAside || postponed.removeValue(forKey: token.rawValue) != nil && postponed.isEmpty
        case .postponed(let token, let code): postponed[token.rawValue] = code
        case .dropped(let message): dropped = (message, now)
        case .moved(let host): self.host = host
        case .steppedAside(let token, let topic, let reason):
            aside[token.rawValue] = Aside(topic: topic, reason: reason)
        case .limited(let limits): self.limits = limits
        case .message, .decoded, .subscribed, .subscriptionRefused, .wantsMessage, .answered, .refusal, .admitted:
            return false
        }
        return true
    }

    /// Whether messages that were set aside because of a limit are to be tried again on the connection that begins now.
    mutating func readmitsLimited(at now: MonotonicInstant) -> Bool {
        if let last = readmission, last.limits == limits, last.at.duration(to: now) < Self.readmissionPeriod {
            return false
        }
        readmission = (now, limits)
        return true
    }

    /// Whether the connection that begins now has other limits than the one before: states that were set aside are not sent again, so
    /// all of them have to be made anew. To be asked before `readmitsLimited`.
    var hasOtherLimits: Bool { readmission.map { $0.limits != limits } ?? false }

    /// Whether the broker refuses messages for now.
    var isRefused: Bool { !postponed.isEmpty || !aside.isEmpty }

    package func state(of broker: Broker, at now: MonotonicInstant) -> BrokerState {
        guard !broker.isOffline else { return .init(name: "none", phase: .offline) }
        var state = BrokerState(name: name(of: broker), phase: phase, since: since)
        if broker.endpoint != nil { state.kind = .server }
        if phase == .disconnected { state.nextTry = nextTry.flatMap { $0 > now ? $0 : nil } }
        (state.reason, state.remedy) = trouble(with: broker, at: now) ?? ("", "")
        return state
    }

    /// The name of the broker that is connected or tried next.
    package func name(of broker: Broker) -> String { host.map(broker.hostAndPort(of:)) ?? broker.name }

    private func trouble(with broker: Broker, at now: MonotonicInstant) -> (reason: String, remedy: String)? {
        let lost = losses.count { $0.duration(to: now) < Self.memory }
        // Over HTTP, the failure itself is the reason.
        if lost >= Self.mostLosses, broker.endpoint == nil {
            return (
                "the connection is unstable" + (failure.map { ": \($0)" } ?? ""),
                "another client with the same client id ends it, or the network is bad; the broker's log says which"
            )
        }
        if let failure { return ("\(failure)", BrokerAdvice.text(for: failure, broker, wasConnected: wasConnected)) }
        if let trouble = droppedTrouble(at: now, isAnswer: broker.endpoint != nil) { return trouble }
        if phase == .connected, let code = postponed.min(by: { $0.key < $1.key })?.value {
            return (
                "it refuses messages for now: \(BrokerFailure.reason(code: code))",
                "look at the broker's quotas, its disk and its log; the messages are sent again"
            )
        }
        if phase == .connected, let trouble = asideTrouble { return trouble }
        // Messages of an earlier connection were sent again when this one began.
        guard phase == .connected, let oldest = unanswered.values.map(\.at).min().map({ max($0, since) }) else {
            return nil
        }
        let waited = oldest.duration(to: now)
        guard waited >= Self.patience else { return nil }
        guard broker.endpoint == nil else {
            return (
                "the server has not taken a message for \(waited.components.seconds) s",
                "it is overloaded, or the network is slow: look at its machine and its log"
            )
        }
        return (
            "the broker has not acknowledged a message for \(waited.components.seconds) s",
            "it is overloaded or stopped, or the network loses its packets: look at its machine and its log"
        )
    }

    private var asideTrouble: (reason: String, remedy: String)? {
        guard let first = aside.min(by: { $0.key < $1.key })?.value else { return nil }
        let others = aside.count > 1 ? " and \(counted(aside.count - 1, "other"))" : ""
        return (
            "it does not accept the message on \(first.topic)\(others): \(first.reason)",
            "look at the server's log; such messages are kept and tried again once an hour"
        )
    }

    private func droppedTrouble(at now: MonotonicInstant, isAnswer: Bool) -> (reason: String, remedy: String)? {
        guard let dropped else { return nil }
        let age = dropped.at.duration(to: now)
        switch dropped.message {
        case .tooLarge(_, let size) where isAnswer && age < Self.memory:
            return (
                "an answer of more than \(size) bytes was not read, and commands in it are not obeyed",
                "find out what the server puts into its answers"
            )
        case .tooLarge(let topic, let size) where age < Self.memory:
            return (
                "a message of \(size) bytes on \(topic) was too large and was dropped",
                "find out which client sent it; the broker's message_size_limit keeps such messages out"
            )
        case .sessionDiscarded(let failure) where age < Self.memory:
            return (
                "\(failure), and commands that waited there were deleted with it",
                "send them again; the broker's message_size_limit keeps large messages out"
            )
        case .subscriptionsWithheld(let time) where age < time:
            return (
                "it retains a message on /cmd that is too large, so commands are not heard",
                "delete it: mosquitto_pub -r -n -t …/cmd"
            )
        default: return nil
        }
    }
}
