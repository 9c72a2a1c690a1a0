import Base
import JSON
package import SiteProtocol

/// Whether this service decides for the site, or another one does.
///
/// It owns the state machine of the election (`ActiveService`), and the cards of the site's services. It does not carry out what the
/// election decides: `connected`, `tick` and `receive` return it to the site. A service that is the only one has no election: it is
/// active, and publishes no card.
package struct Election: Sendable {
    typealias Decided = [ActiveService.Effect]

    /// Largest number of services whose cards are remembered.
    private static let mostServices = 32

    private let site: String
    private let version: String
    /// nil if no other service exists.
    private var service: ActiveService?
    /// The cards of the site's services, by instance.
    package private(set) var cards: [String: ServiceCard] = [:]
    /// Whether the service's card asks a person to let it adopt the site's list of tags.
    private var asksToAdopt = false

    init(_ settings: SiteSettings) {
        (site, version) = (settings.site ?? "", settings.version)
        service = settings.instance.map(ActiveService.init)
    }

    package var role: ActiveService.Role { service?.role ?? .active }

    /// The name of this service among the services of the site; empty if it is the only one.
    package var instance: String { service?.instance ?? "" }

    func isOwn(_ instance: String) -> Bool { instance == service?.instance }

    var isAlone: Bool { service == nil }

    var nextDeadline: MonotonicInstant? { service?.nextDeadline }

    /// The other service that is presumably active.
    package var other: String? { service?.other }

    /// Whether this service would be active if a person had answered its question.
    var isHeldBack: Bool { service?.isHeldBack == true }

    /// Whether the counter of another service moves.
    func hasActiveOther(at now: MonotonicInstant) -> Bool { service?.hasActiveOther(at: now) == true }

    // MARK: - For people

    /// The role as it is shown: a service is active when the broker has taken its card.
    package var shownRole: String {
        guard role == .active, let service else { return "\(role)" }
        return service.isRefused ? "refused" : service.isTaken ? "active" : "listening"
    }

    /// Why this service is not active although it would be; nil: it is, or another one is.
    package var refusal: (text: String, remedy: String)? { service?.isRefused == true ? advice : nil }

    private var advice: (text: String, remedy: String) {
        let root = "ibeacon-rooms/\(site)"
        return (
            "the broker does not accept what this service writes, so it decides nothing",
            "let its user read and write below \(root), and write to the topics of the tags; "
                + "in mosquitto's acl_file: topic readwrite \(root)/#"
        )
    }

    /// Says what was decided: to the other services, and to people.
    ///
    /// - Parameter asks: Whether a person must decide about the site's list of tags.
    func announce(_ decided: ActiveService.Effect, asks: Bool, _ effects: inout [Site.Effect]) {
        switch decided {
        case .publish(let isActive, let counter):
            sendCard(isActive: isActive, counter: counter, asks: asks, &effects)
        case .began: break
        case .taken:
            effects += [.log(.notice, "this service is the active one of site '\(site)'"), .pageChanged]
        case .refused: effects += [.log(.error, "\(advice.text); \(advice.remedy)"), .pageChanged]
        case .stoodDown(let other):
            let text = "the service '\(other)' is active too; this one is the standby from now on"
            effects.append(.log(.error, text))
        case .remove(let other):
            let text =
                "the card of the service '\(shortened(other))' had not changed for \(seconds(ActiveService.patience)) s and is removed: "
                + "that service is gone"
            effects += [.send(.cardRemoved(instance: other)), .log(.notice, text, once: "dead service")]
        }
    }

    /// Says that a message was refused because it cannot be decrypted.
    func refusal(ofSealed topic: RoomTopic, _ reason: String) -> Site.Effect {
        guard case .service(_, let name) = topic, !isOwn(name) else {
            return .log(.warning, "a message on \(topic.text) was refused: \(reason)", once: "sealed")
        }
        // Any client can publish such a card.
        return .log(
            .notice,
            "a card of the service '\(name)' cannot be decrypted; it has another key of the site, or another "
                + "client uses its name: \(reason)", once: "service key")
    }

    /// A retained request to train, forget, rename or move is not carried out: the broker sends it at every connection. nil in a replay.
    var retainedRequest: Site.Effect? {
        guard !isAlone else { return nil }
        let text = "request on \(RoomTopic.learn(site: site).text) refused: the broker had retained it"
        return .log(.warning, text, once: "request-refused")
    }

    // MARK: - The election

    /// - Returns: nil without an election.
    mutating func connected(at now: MonotonicInstant) -> Decided? { service?.connected(at: now) }

    mutating func disconnected(at now: MonotonicInstant) { service?.disconnected(at: now) }

    /// - Returns: nil without an election.
    mutating func tick(at now: MonotonicInstant) -> Decided? { service?.tick(at: now) }

    /// A card of a service arrived; nil: it was removed.
    ///
    /// - Returns: nil without an election.
    mutating func receive(
        _ card: ServiceCard?, of instance: String, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) -> Decided? {
        // The counter of the active service moves every two seconds.
        let shown = card.map { ServiceCard(isActive: $0.isActive, counter: 0, version: $0.version) }
        if cards[instance] != shown, cards[instance] != nil || cards.count < Self.mostServices {
            cards[instance] = shown
            effects.append(.pageChanged)
        }
        return card.flatMap { service?.heard(instance, isActive: $0.isActive, counter: $0.counter, at: now) }
    }

    // MARK: - The card of this service

    /// Sends the card of this service.
    ///
    /// - Parameter asks: Whether a person must decide about the site's list of tags.
    func sendCard(isActive: Bool = false, counter: UInt64 = 0, asks: Bool, _ effects: inout [Site.Effect]) {
        guard let service else { return }
        let card = ServiceCard(
            isActive: isActive, counter: counter, version: version, asksToAdopt: !isActive && asks)
        effects.append(.send(.card(instance: service.instance, card)))
    }

    /// A service that does not know the site's list of tags must not take over: it would publish another list to the gateways,
    /// and delete the states of all tags.
    mutating func judgeAbility(_ list: SharedTagList, isConnected: Bool, _ effects: inout [Site.Effect]) {
        guard service != nil else { return }
        service?.isAble = !list.isOffered && !list.isAwaited
        guard asksToAdopt != list.isOffered else { return }
        asksToAdopt.toggle()
        if let question = list.question { effects.append(.log(.warning, "\(question.text); \(question.remedy)")) }
        effects.append(.pageChanged)
        if role != .active, isConnected { sendCard(asks: list.isOffered, &effects) }
    }
}
