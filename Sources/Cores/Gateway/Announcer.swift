import Base
import Configuration
import OwnTracks
import Presence
import Regions

/// What waits to be announced: cards, states and regions, in turns. One message may contain ten thousand regions; published in one
/// turn, their states would delay the radio for longer than a tenth of a second, and fill the queue of the store.
///
/// It decides what is announced after the start, after each new session with the broker, and when Home Assistant starts.
struct Announcer: Sendable {
    /// Time between two parts of the cards, and their bytes in one part.
    static let cardPause: Duration = .milliseconds(250)
    static let cardBytes = 64 << 10
    /// The turns that are published when the service ends.
    static let lastTurns = 8

    /// Announcements of regions that are not published yet.
    private var regions = TurnQueue<RegionAnnouncement>(turn: 250, pause: .milliseconds(20))
    /// The trackers whose cards wait to be published, by their index. A card may hold a picture: of many trackers, they would fill
    /// the memory and the queue of the store.
    private var cards = TurnQueue<Int>(turn: 1, pause: Self.cardPause)
    /// The rounds that starts of Home Assistant cause: any client may publish it, and each round is thousands of messages.
    private var rounds = RoundLimit(pause: .seconds(30))
    /// Whether the state of all regions was published since the start.
    private var hasAnnounced = false
    /// Whether an earlier run may have published locations.
    private var followsEarlierRun = false

    /// When something is due; nil: nothing waits.
    var due: MonotonicInstant? { [regions.due, cards.due, rounds.due].compactMap(\.self).min() }

    // MARK: - Rounds

    /// The state of an earlier run was restored.
    mutating func restored() { followsEarlierRun = true }

    /// Announces everything after the broker accepted a connection: once, and again where its session is new.
    ///
    /// - Parameter isNewSession: It remembers no session, and perhaps no retained message.
    /// - Returns: `hasLostMessages`: the locations have to be published again, too.
    mutating func connected(isNewSession: Bool, _ trackers: Trackers, by messages: Messages) -> (
        effects: [Gateway.Effect], hasLostMessages: Bool
    ) {
        defer { hasAnnounced = true }
        guard hasAnnounced else {
            // With a clean session each one is new, and says nothing about what the broker has lost.
            let hasLostMessages = isNewSession && followsEarlierRun && !messages.settings.broker.cleanSession
            return (announce(trackers, by: messages, isAgain: false), hasLostMessages)
        }
        return isNewSession ? (announce(trackers, by: messages, isAgain: true), true) : ([], false)
    }

    /// Announces everything again because Home Assistant started, and knows no state.
    mutating func homeAssistantStarted(_ trackers: Trackers, by messages: Messages) -> [Gateway.Effect] {
        rounds.want(at: messages.now) ? announce(trackers, by: messages, isAgain: true) : []
    }

    /// Publishes the cards and the states of all regions.
    ///
    /// - Parameters:
    ///   - isAgain: They were published before, and the receiver has lost them.
    ///   - hidden: Devices whose states were withheld before as well.
    mutating func announce(
        _ trackers: Trackers, by messages: Messages, isAgain: Bool, hidden: Set<ExactString> = []
    ) -> [Gateway.Effect] {
        let settings = messages.settings
        // All states are about to be published.
        regions.replace {
            switch $0 {
            case .state, .enter: nil
            default: $0
            }
        }
        if !isAgain {
            regions.add(trackers.withdrawalsOfHiddenStates(besides: hidden, by: settings, at: messages.now))
        }
        let effects = beginCards(of: trackers, by: messages)
        for (index, tracker) in trackers.enumerated() {
            if isAgain, settings.reannounces { regions.add(repeatedEnters(of: tracker, at: index, messages.now)) }
            regions.add(RegionAnnouncement.states(of: tracker.regions.regions, tracker: index))
        }
        return effects + publish(turn: regions.next(at: messages.now), of: trackers, by: messages)
    }

    /// The enters of all occupied regions again.
    private func repeatedEnters(of tracker: TrackerState, at index: Int, _ now: MonotonicInstant)
        -> [RegionAnnouncement]
    {
        guard tracker.mayPublish(.transition, at: now) else { return [] }
        return tracker.regions.regions.compactMap { region in
            tracker.begin(of: region.rid).map { _ in .enter(tracker: index, rid: region.rid) }
        }
    }

    /// Publishes the cards of all trackers: the first now, and the others in later turns.
    private mutating func beginCards(of trackers: Trackers, by messages: Messages) -> [Gateway.Effect] {
        guard let card = messages.settings.card else {
            cards = TurnQueue(turn: 1, pause: Self.cardPause)
            return []
        }
        let bytes = 64 + (card.name?.utf8.count ?? 0) + (card.face?.utf8.count ?? 0)
        cards = TurnQueue(turn: max(1, Self.cardBytes / bytes), pause: Self.cardPause)
        cards.add(Array(trackers.indices))
        return Self.cards(of: cards.next(at: messages.now), trackers, by: messages)
    }

    private static func cards(of indices: [Int], _ trackers: Trackers, by messages: Messages) -> [Gateway.Effect] {
        guard let card = messages.settings.card else { return [] }
        return indices.filter(trackers.indices.contains).map { messages.card(card, of: trackers[$0]) }
    }

    // MARK: - Turns

    /// Publishes announcements of regions: the first now and the others in later turns.
    mutating func publish(_ new: [RegionAnnouncement], of trackers: Trackers, by messages: Messages) -> [Gateway.Effect]
    {
        guard !new.isEmpty else { return [] }
        regions.add(new)
        return publish(turn: regions.begin(at: messages.now), of: trackers, by: messages)
    }

    /// Publishes the cards that are due, and a round that waited for the end of another one.
    mutating func publishDueRounds(of trackers: Trackers, by messages: Messages) -> [Gateway.Effect] {
        let effects = Self.cards(of: cards.nextIfDue(at: messages.now), trackers, by: messages)
        guard regions.due == nil, cards.due == nil, rounds.begin(at: messages.now) else { return effects }
        return effects + announce(trackers, by: messages, isAgain: true)
    }

    /// Publishes the announcements of regions that are due.
    mutating func publishDueRegions(of trackers: Trackers, by messages: Messages) -> [Gateway.Effect] {
        publish(turn: regions.nextIfDue(at: messages.now), of: trackers, by: messages)
    }

    /// Publishes what waits when the service ends, but no states: the next start publishes all of them.
    mutating func publishLast(of trackers: Trackers, by messages: Messages) -> [Gateway.Effect] {
        regions.replace { if case .state = $0 { nil } else { $0 } }
        var effects: [Gateway.Effect] = []
        for _ in 0..<Self.lastTurns where regions.due != nil {
            effects += publish(turn: regions.next(at: messages.now), of: trackers, by: messages)
        }
        return effects
    }

    private func publish(
        turn announcements: [RegionAnnouncement], of trackers: Trackers, by messages: Messages
    ) -> [Gateway.Effect] {
        announcements.flatMap { announcement -> [Gateway.Effect] in
            switch announcement {
            case .state(let tracker, let rid):
                guard let region = trackers.region(RegionKey(tracker: tracker, rid: rid)), region.isBeacon else {
                    return []
                }
                return messages.state(of: region, trackers[tracker], at: messages.now)
            case .enter(let tracker, let rid):
                let region = trackers.region(RegionKey(tracker: tracker, rid: rid))
                return region.map { messages.repeatedEnter(of: $0, trackers[tracker]) } ?? []
            case .waypoint(let tracker, let rid):
                let region = trackers.region(RegionKey(tracker: tracker, rid: rid))
                return region.map { [messages.waypoint($0, of: trackers[tracker])] } ?? []
            case .withdrawal(let device, let tracker, let rid):
                // The tracker may have been removed since.
                let sender = trackers.indices.contains(tracker) ? tracker : 0
                return [messages.withdrawal(of: rid, device: device, by: trackers[sender])]
            }
        }
    }

    /// The trackers have other indices now.
    ///
    /// - Parameter newIndices: The new index of each tracker by its old one.
    mutating func moveTrackers(to newIndices: [Int: Int]) { regions.replace { $0.moved(to: newIndices) } }
}
