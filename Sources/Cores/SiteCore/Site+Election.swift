import Base
import Regions
import Rooms
import SiteProtocol

extension Site {
    /// Whether a standby may take over.
    struct Ability: Sendable {
        /// Whether this service knows tags, or once did.
        var hadTags = false
        /// How many tags the retained list of the site has.
        var listedTags = 0
    }

    /// Without a connection no tag goes away, because no message of a gateway arrives.
    mutating func connected(at now: MonotonicInstant, _ effects: inout [Effect]) {
        retained.begin(at: now)
        pass(.connected(true), at: now, &effects)
        if let decided = election?.connected(at: now) { elect(decided, at: now, &effects) }
        if role == .active { effects.append(.send(.tags(tagList))) }
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
                effects.append(.log(.notice, "this service is the active one of site '\(settings.site ?? "")'"))
                setActive(true, at: now, &effects)
                correctRetained(at: now, &effects)
                effects += [.deliver, .send(.tags(tagList))]
            case .stoodDown(let other):
                effects.append(
                    .log(.error, "the service '\(other)' is active too; this one is the standby from now on"))
                setActive(false, at: now, &effects)
            }
        }
    }

    func card(of election: ActiveService, isActive: Bool, counter: UInt64) -> SiteReport {
        .card(
            instance: election.instance,
            ServiceCard(isActive: isActive, counter: counter, version: settings.version))
    }

    /// A standby that never had tags must not take over: it would publish an empty list to the gateways, and delete the states
    /// of all tags. Each service keeps its own tags.
    mutating func judgeAbility(_ effects: inout [Effect]) {
        guard let wasAble = election?.isAble else { return }
        if !regions.regions.isEmpty { ability.hadTags = true }
        let isAble = ability.hadTags || ability.listedTags == 0
        election?.isAble = isAble
        guard wasAble, !isAble, role != .active else { return }
        effects.append(
            .log(
                .warning,
                "the site has \(ability.listedTags) tags, and this service has none: it cannot take over. Import them: "
                    + "'rooms tags export' on the machine that has them, 'rooms tags import' here"))
    }
}
