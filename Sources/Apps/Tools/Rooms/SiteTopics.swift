import Base
import Configuration
import Messaging
import RoomsApp
import Shell
import SiteCore
import SiteProtocol
import System

/// Collects the retained messages of a site for one command, and publishes to the site.
final class SiteTopics {
    /// Longest time for the connection with TLS and login.
    private static let patience: Duration = .seconds(12)
    /// Time without a further retained message after which no more is expected.
    private static let quiet: Duration = .milliseconds(300)

    let identity: RoomServiceIdentity
    /// The payloads by topic.
    private(set) var retained: [String: [UInt8]] = [:]
    /// Messages of the site that cannot be decrypted, by topic, as received.
    private(set) var closed: [String: ClosedMessage] = [:]
    private let seal: SiteSeal
    private let link: CommandConnection
    /// Topic filters without which the command cannot continue.
    private let needed: Set<String>
    private var lastRetained = MonotonicInstant.zero
    /// The services whose cards say that they are active and have changed since they are known here.
    private var moving: Set<String> = []
    /// For how long cards that say that their service is active have not changed, as far as `watchCards` has found that.
    private(set) var still: [String: Duration] = [:]
    /// Called with what a service answers to a request, as it arrives.
    var onAnswer: ((RoomTopic, [UInt8]) -> Void)?

    /// Connects.
    ///
    /// - Parameters:
    ///   - filters: The topic filters to subscribe to, below `ibeacon-rooms/<site>`.
    ///   - optional: Whole topic filters that the broker may refuse.
    init(_ settings: Settings, filters: [String] = [], optional: (RoomServiceIdentity) -> Set<String> = { _ in [] })
        throws
    {
        let configuration = settings.configuration
        let identity = try RoomServiceIdentity(configuration)
        self.identity = identity
        seal = SiteSeal(configuration.rooms)
        guard configuration.broker.endpoint == nil else {
            throw Failure(.unavailable, "the configuration says HTTP (mode 3); a rooms service needs an MQTT broker")
        }
        let optional = optional(identity)
        needed = Set(filters.map { "ibeacon-rooms/\(identity.site)/\($0)" } + [DeviceTopics.availabilities])
            .subtracting(optional)
        link = try CommandConnection(configuration, purpose: "rooms", filters: needed.union(optional))
        link.onMessage = { [unowned self] in take($0) }
        guard try link.wait(Self.patience, until: { link.isConnected }) else {
            throw Failure(.unavailable, "the broker has not answered for \(decimal(Self.patience)) s")
        }
    }

    /// Waits for the retained messages, however slow the broker or this machine is.
    ///
    /// A broker sends them when it handles a subscription, before or after it answers. So all subscriptions must be
    /// answered, and then one more, which it handles after them. Messages that it holds back until earlier ones are
    /// acknowledged arrive without a long pause.
    func collect() throws {
        let end = Clocks.now().advanced(by: Self.patience)
        try waitForAnswers(until: end)
        link.subscribe(to: "ibeacon-rooms/\(identity.site)/service/fence")
        try waitForAnswers(until: end)
        lastRetained = max(lastRetained, Clocks.now())
        while Clocks.now() < end {
            let last = lastRetained
            try link.wait(Clocks.now().duration(to: min(end, last.advanced(by: Self.quiet)))) { false }
            if lastRetained == last { return }
        }
    }

    /// Waits until the broker has answered all subscriptions.
    private func waitForAnswers(until end: MonotonicInstant) throws {
        let isAnswered = try link.wait(Clocks.now().duration(to: end)) {
            link.pendingFilters.isEmpty || !link.refusedFilters.isDisjoint(with: needed)
        }
        if let filter = link.refusedFilters.intersection(needed).min() {
            throw Failure(.noPermission, "the broker refuses the subscription to \(filter)")
        }
        guard isAnswered else {
            throw Failure(.unavailable, "the broker has not answered a subscription for \(decimal(Self.patience)) s")
        }
    }

    /// Time for which the cards of other services are watched after one has changed: a service changes its card every
    /// `ActiveService.period`, and a message may be late.
    private static let watching = ActiveService.period * 2 + .seconds(1)

    /// Waits until each card that says that its service is active has changed. The card of a service that is gone does not: after
    /// `ActiveService.patience`, or less if another service has changed its card, it is among `still`. If no card says that its
    /// service is active, this returns at once, and otherwise mostly within two seconds.
    ///
    /// - Parameter known: Services that are known to be active.
    func watchCards(knowing known: Set<String> = []) throws {
        let begin = Clocks.now()
        func unchanged() -> Set<String> { claiming.subtracting(moving).subtracting(known) }
        guard !unchanged().isEmpty else { return }
        if known.isEmpty {
            try link.wait(ActiveService.patience) { unchanged().isEmpty || !moving.isEmpty }
        }
        let rest = max(.zero, Clocks.now().duration(to: begin.advanced(by: Self.watching)))
        try link.wait(rest) { unchanged().isEmpty }
        let watched = Duration.seconds(begin.duration(to: Clocks.now()).inSeconds.rounded())
        still = Dictionary(uniqueKeysWithValues: unchanged().map { ($0, watched) })
    }

    /// The services whose cards say that they are active.
    private var claiming: Set<String> {
        Set(
            retained.compactMap { topic, payload in
                guard case .service(_, let name) = RoomTopic(topic), ServiceCard(payload)?.isActive == true else {
                    return nil
                }
                return name
            })
    }

    /// Receives messages for this time, or until the retained messages fulfil `isOver`.
    func wait(_ duration: Duration, until isOver: ([String: [UInt8]]) -> Bool = { _ in false }) throws {
        try link.wait(duration) { isOver(retained) }
    }

    /// Publishes a message, and waits until the broker has it.
    func publish(_ topic: RoomTopic, _ payload: [UInt8], isRetained: Bool = false) throws {
        try publish(topic.text, payload, isRetained: isRetained)
    }

    func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool) throws {
        let token = link.publish(
            Publication(.state, topic: topic, payload: seal.sealed(payload, for: topic), isRetained: isRetained))
        guard let token, try link.wait(Self.patience, until: { !link.unanswered.contains(token) }) else {
            throw Failure(.unavailable, "the broker does not acknowledge")
        }
        if let refusal = link.refusals[token] {
            throw Failure(.noPermission, "the broker refuses the message: \(refusal)")
        }
    }

    func close() { link.close(within: .seconds(1)) }

    private func take(_ message: ReceivedMessage) {
        if message.retained { lastRetained = Clocks.now() }
        let topic = message.topic
        let former = retained[topic]
        (retained[topic], closed[topic]) = (nil, nil)
        guard !message.payload.isEmpty else { return }
        defer { if !message.retained, let now = retained[topic] { takeLive(topic, now, former) } }
        do throws(SealError) {
            retained[topic] =
                try RoomTopic(topic).map { topic throws(SealError) in
                    try seal.opened(message.payload, of: topic)
                } ?? message.payload
        } catch {
            closed[topic] = ClosedMessage(payload: message.payload, reason: error)
        }
    }

    /// A message arrived that the broker had not retained.
    private func takeLive(_ topic: String, _ payload: [UInt8], _ former: [UInt8]?) {
        guard let topic = RoomTopic(topic) else { return }
        switch topic {
        case .service(_, let name):
            guard let card = ServiceCard(payload), card.isActive else { return }
            if former.flatMap(ServiceCard.init)?.counter != card.counter { moving.insert(name) }
        case .refused, .answer: onAnswer?(topic, payload)
        default: break
        }
    }
}
