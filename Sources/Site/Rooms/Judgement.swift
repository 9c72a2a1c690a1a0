import Base

/// What a window of a tag changes: its `Observation` is weighed, the `Transition` changes the tag's belief, and the most probable room is
/// reported once it is probable enough.
struct Judgement: Sendable {
    private(set) var observation: Observation
    private var transition: Transition
    private let tuning: RoomTuning

    init(_ tuning: RoomTuning) {
        observation = Observation(tuning)
        transition = Transition(tuning)
        self.tuning = tuning
    }

    mutating func addGateway() { observation.addGateway() }

    /// Records what the silence of a gateway about a tag says. This is called whenever that may have changed.
    @inline(__always)
    mutating func setSilence(of gateway: GatewayIndex, _ state: GatewayState) {
        observation.setSilence(of: gateway, state.levelOfSilence(tuning.silence))
    }

    /// Makes `observation` that of what was heard of the tag since its last window.
    ///
    /// - Parameters:
    ///   - places: The gateways in each room.
    ///   - learned: What was learned of each room.
    ///   - trained: The trained rooms in which no gateway listens (`SitePlan.roomsWithoutGateway`).
    @inline(__always)
    mutating func observe(
        _ tag: inout Tag, _ gateways: Table<GatewayIndex, GatewayState>, _ places: Table<RoomIndex, Room>,
        _ learned: Table<RoomIndex, RoomKnowledge>, trained: [RoomIndex], at now: MonotonicInstant
    ) {
        let pause = -tuning.hearing.longestPauseSeconds
        let elapsed = tag.judged.map { now.seconds(since: max($0, now.advanced(bySeconds: pause))) } ?? 1
        observation.gather(&tag, gateways, elapsed: elapsed, at: now)
        tag.senseMovement(in: observation.window, gateways, at: now, tuning)
        observation.chooseRooms(for: &tag, gateways, places, learned, trained: trained)
        observation.weigh(&tag, gateways, places, learned)
        tag.judged = now
    }

    /// Changes the belief of the tag by `observation`.
    @inline(__always)
    mutating func advance(
        _ tag: inout Tag, _ learned: Table<RoomIndex, RoomKnowledge>, _ floors: Table<RoomIndex, Floors.Place>,
        _ gateways: Table<GatewayIndex, GatewayState>, at now: MonotonicInstant
    ) {
        transition.advance(&tag, observation, learned, floors, gateways, at: now)
    }

    /// The room to report now: it is not the one reported before, and it has been probable enough for long enough.
    ///
    /// - Parameter isTrained: Whether a person says now in which room the tag is.
    func newRoom(
        of tag: inout Tag, isTrained: Bool, _ gateways: Table<GatewayIndex, GatewayState>
    ) -> RoomBelief? {
        guard tag.isHome, let best = tag.belief.best, best.room != tag.room,
            best.probability >= tuning.report.neededProbability(labelledShare: observation.labelledShare)
        else { return nil }
        if best.support < tuning.report.readingsToReport {
            guard tag.room == nil, !isTrained, observation.isClear(best.room, gateways) else { return nil }
        }
        return best
    }
}
