import Base
import Regions
import Rooms
import SiteProtocol

extension Site {
    /// Without a connection no tag goes away, because no message of a gateway arrives.
    mutating func connected(at now: MonotonicInstant, _ effects: inout [Effect]) {
        retained.begin(at: now)
        gateways.hasDroppedCards = false
        siteList.begin()
        if isActive { virtualNodes?.due = now }
        pass(.connected(true), at: now, &effects)
        if let decided = election?.connected(at: now) { elect(decided, at: now, &effects) }
        if role == .active { effects.append(.send(.tags(tagList))) }
        // The own card comes back after all that the broker retains.
        if waitsForList, let election { effects.append(.send(card(of: election, isActive: false, counter: 0))) }
        judgeAbility(&effects)
    }

    mutating func disconnected(at now: MonotonicInstant, _ effects: inout [Effect]) {
        pass(.connected(false), at: now, &effects)
        election?.disconnected(at: now)
        retained.connected = nil
    }

    mutating func elect(_ decided: [ActiveService.Effect], at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard let election else { return }
        for effect in decided {
            switch effect {
            case .publish(let isActive, let counter):
                effects.append(.send(card(of: election, isActive: isActive, counter: counter)))
                guard !isActive else { continue }
                // A service that was active before a long outage becomes standby here.
                setActive(false, at: now, &effects)
                // A standby takes the waiting messages from the store and drops them.
                effects.append(.deliver)
            case .began:
                settleList(at: now, &effects)
                setActive(true, at: now, &effects)
                correctRetained(at: now, &effects)
                effects += [.deliver, .send(.tags(tagList))]
            case .taken:
                effects += [
                    .log(.notice, "this service is the active one of site '\(settings.site ?? "")'"), .pageChanged,
                ]
            case .refused:
                effects += [.log(.error, "\(Self.refusalText); \(refusalCure)"), .pageChanged]
            case .stoodDown(let other):
                effects.append(
                    .log(.error, "the service '\(other)' is active too; this one is the standby from now on"))
                setActive(false, at: now, &effects)
            }
        }
        carryOutDueCommands(at: now, &effects)
    }

    /// The role as it is shown: a service is active when the broker has taken its card.
    package var shownRole: String {
        guard role == .active, let election else { return "\(role)" }
        return election.isRefused ? "refused" : election.isTaken ? "active" : "listening"
    }

    /// Why this service is not active although it would be; nil: it is, or another one is.
    package var refusalOfService: (text: String, cure: String)? {
        election?.isRefused == true ? (Self.refusalText, refusalCure) : nil
    }

    private static var refusalText: String {
        "the broker does not take what this service writes, so it decides nothing"
    }

    private var refusalCure: String {
        let root = "ibeacon-rooms/\(settings.site ?? "")"
        return "let its user read and write below \(root), and write to the topics of the tags; "
            + "in mosquitto's acl_file: topic readwrite \(root)/#"
    }

    func card(of election: ActiveService, isActive: Bool, counter: UInt64) -> SiteReport {
        .card(
            instance: election.instance,
            ServiceCard(
                isActive: isActive, counter: counter, version: settings.version,
                asksToAdopt: !isActive && siteList.offer != nil))
    }

    /// A service that does not know the site's list of tags must not take over: it would publish another list to the gateways,
    /// and delete the states of all tags.
    mutating func judgeAbility(_ effects: inout [Effect]) {
        guard let election else { return }
        let isAble = siteList.offer == nil && !waitsForList
        self.election?.isAble = isAble
        guard asksToAdopt != (siteList.offer != nil) else { return }
        asksToAdopt.toggle()
        if let question { effects.append(.log(.warning, "\(question.text); \(question.cure)")) }
        effects.append(.pageChanged)
        guard role != .active, retained.connected != nil else { return }
        effects.append(.send(card(of: election, isActive: false, counter: 0)))
    }
}
