package import Base
package import Beacon
package import SiteProtocol

/// Decides in which room each tag is, from what all gateways of a site hear.
///
/// It reads no clock: time comes with each input. The work of an input is proportional to its readings. A window of a tag costs
/// its rooms times their fingerprints, both of which are bounded.
package struct RoomEngine: Sendable {
    package enum Input: Sendable {
        /// A message of a gateway.
        case heard(gateway: String, HeardSecond)
        /// The gateway's card, or the configuration, names the gateway's room.
        case card(gateway: String, room: String, isConfigured: Bool = false)
        /// The telemetry of an ESPresense node arrived.
        case telemetry(node: String)
        /// Whether the gateway is connected to the broker.
        case available(gateway: String, Bool)
        /// The gateway is no longer part of the site.
        case forget(gateway: String)
        /// Replaces the tags. What is known about a tag is kept while its id and pattern stay the same.
        case tags([TagDescription])
        /// The tags with these UUIDs are phones, and no others.
        case phones(Set<BeaconUUID>)
        /// The tag is in the room, for this long from now on. Zero ends the training.
        case learn(room: String, tag: String, Duration)
        /// Forgets what was learned of a room.
        case forgetRoom(String)
        /// The connection to the broker was lost or restored. Initially it exists.
        case connected(Bool)
        /// What comes next was recorded at another time: the gateways' clocks are learned anew.
        case discontinuity
        /// Time passed; a deadline may be due.
        case tick
    }

    package enum Effect: Hashable, Sendable {
        case decided(Decision)
        /// Something that a user should know.
        case found(Finding)
    }

    /// One change of what is published about a tag.
    package struct Decision: Hashable, Sendable {
        /// Position in `tags`.
        package var tag: Int
        package var isHome: Bool
        /// The reported rooms; nil if not known.
        package var from: RoomName?
        package var to: RoomName?
        /// Probability of the room, 0 … 1.
        package var confidence: Float

        package init(tag: Int, isHome: Bool, from: RoomName?, to: RoomName?, confidence: Float) {
            (self.tag, self.isHome, self.from, self.to, self.confidence) = (tag, isHome, from, to, confidence)
        }
    }

    package enum Finding: Hashable, Sendable {
        /// The gateway receives nothing while others do.
        case deaf(gateway: String)
        /// It receives again.
        case hears(gateway: String)
        /// Several gateways have this name: what they hear cannot be told apart.
        case shared(gateway: String)
        /// More gateways than a site can have. `idle`: those that give way, or have been silent for longest.
        case tooManyGateways(newest: String, idle: [String])
        /// More rooms than a site can have. `idle`: rooms without a gateway that counts.
        case tooManyRooms(newest: String, idle: [String])
    }

    package struct Counters: Hashable, Sendable {
        package var messages: UInt64 = 0
        package var readings: UInt64 = 0
        /// Messages that came more than 5 s late.
        package var late: UInt64 = 0
        package var repeated: UInt64 = 0
        /// Messages of gateways that do not count yet.
        package var unknown: UInt64 = 0
        /// Readings of beacons that are not tags.
        package var foreign: UInt64 = 0
        package var windows: UInt64 = 0
        package var decisions: UInt64 = 0
        /// Messages, cards and training requests for which there is no place, and requests that name no tag.
        package var refused: UInt64 = 0
    }

    /// Largest numbers of gateways and of rooms of a site. A window of a tag costs no more with all of them than with a few: it
    /// looks at the gateways that heard the tag, and at the rooms that these stand in.
    package static let mostGateways = 2000
    package static let mostRooms = 2000
    package static let mostTags = FeedDecoder.mostTags
    package let tuning: RoomTuning
    package internal(set) var counters = Counters()
    var gateways = Table<GatewayIndex, GatewayState>()
    var gatewayIndices: [String: GatewayIndex] = [:]
    var rooms = Table<RoomIndex, Room>()
    /// By the room's id.
    var roomIndices: [String: RoomIndex] = [:]
    var states = Table<TagIndex, Tag>()
    var presence: TagPresence
    var departures = Departures()
    /// When the latest message of any gateway arrived.
    var latestMessage: MonotonicInstant?
    /// When the first input came.
    var began: MonotonicInstant?
    var fullTables = FullTables()
    var openWindows = OpenWindows()
    /// When the next listening gateway may count as silent, or an earlier instant; nil if none listens.
    var silenceDue: MonotonicInstant?
    /// The trained rooms in which no gateway listens, first those without any gateway; nil: they are to be found again.
    var roomsWithoutGateway: [RoomIndex]?
    var learners = Table<LearnerIndex, Learner>()
    /// The latest training run with each tag. Few tags have one.
    var trainings: [TagIndex: TrainingRun] = [:]
    var order: UInt64 = 0
    var scratch = Scratch()
    let bounds: Bounds

    /// Limits, which the benchmark exceeds.
    package struct Bounds: Sendable {
        package var gateways = RoomEngine.mostGateways
        package var rooms = RoomEngine.mostRooms
        package var tags = RoomEngine.mostTags
        package init() {}
    }

    package init(tuning: RoomTuning = RoomTuning(), bounds: Bounds = Bounds()) {
        self.tuning = tuning
        self.bounds = bounds
        presence = TagPresence(mostTags: bounds.tags)
    }

    /// When `tick` may have something to decide; nil if nothing is pending.
    package var nextDeadline: MonotonicInstant? {
        var next = presence.nextDeadline
        if let end = openWindows.earliestEnd { next = min(next ?? end, end) }
        if let silenceDue { next = min(next ?? silenceDue, silenceDue) }
        return next
    }

    package var tags: [TagDescription] { states.elements.map(\.description) }

    /// When the latest training run with each tag ends, or ended.
    package var trainingEnds: [MonotonicInstant] { trainings.values.map(\.until) }

    /// Handles one input at `now`, which is never earlier than the previous one.
    package mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        if began == nil { began = now }
        // Before silences are looked at: without a connection, or while this machine was suspended, nobody heard what nodes said.
        if case .connected(let isConnected) = input { setConnected(isConnected, at: now, &effects) }
        expire(at: now, &effects)
        switch input {
        case .heard(let gateway, let second): hear(gateway, second, at: now, &effects)
        case .card(let gateway, let room, let isConfigured):
            place(gateway, in: room, isConfigured: isConfigured, at: now, &effects)
        case .telemetry(let node): recordTelemetry(of: node, at: now, &effects)
        case .available(let gateway, let isAvailable): setAvailable(gateway, isAvailable, at: now, &effects)
        case .forget(let gateway): if let gateway = gatewayIndices[gateway] { forget(gateway, at: now, &effects) }
        case .tags(let tags): replaceTags(by: tags, at: now, &effects)
        case .phones(let uuids): setPhones(uuids, at: now, &effects)
        case .learn(let room, let tag, let duration): learn(room, tag, duration, at: now, &effects)
        case .forgetRoom(let room): forgetRoom(named: room)
        case .discontinuity:
            for gateway in gateways.indices { gateways[gateway].clock.forget() }
            for tag in states.indices { learnRest(of: tag) }
        case .connected, .tick: break
        }
        confirmDepartures(at: now, &effects)
        return effects
    }

    // MARK: Hearing

    private mutating func hear(
        _ name: String, _ second: HeardSecond, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        counters.messages += 1
        guard let gateway = gatewayIndex(name, at: now, &effects) else {
            counters.refused += 1
            return
        }
        gateways[gateway].lastSign = now
        switch gateways[gateway].clock.judge(second, at: now) {
        case .fresh: break
        case .late:
            counters.late += 1
            gateways[gateway].lastLate = now
            return
        case .repeated:
            counters.repeated += 1
            return
        }
        detectSharedName(of: gateway, at: now, &effects)
        guard acquaint(gateway, boot: second.boot, at: now) else {
            counters.unknown += 1
            return
        }
        recordMessage(of: gateway, second, at: now, &effects)
        for reading in second.readings {
            counters.readings += 1
            guard let tag = presence.tag(of: reading.beacon) else {
                counters.foreign += 1
                continue
            }
            handle(reading, of: tag, by: gateway, at: now, &effects)
        }
    }

    private mutating func handle(
        _ reading: Reading, of tag: TagIndex, by gateway: GatewayIndex, at now: MonotonicInstant,
        _ effects: inout [Effect]
    ) {
        take(presence.hear(reading, by: gateway, at: now), at: now, &effects)
        guard let level = reading.level, states[tag].isHome || trainedRoom(of: tag) != nil else { return }
        // The level is corrected to that of a tag of -59 dBm. A power that no beacon has is ignored.
        let power = reading.power.flatMap { (-90 ... -40).contains($0) ? $0 : nil } ?? -59
        states[tag].hear(
            HeardLevel(
                gateway: gateway, packets: Int16(clamping: reading.count),
                level: max(-120, min(20, level)) - 59 - power, at: now), tuning)
        let age = max(0, min(Tag.secondNanoseconds, reading.age.nanoseconds))
        let sent = MonotonicInstant(nanoseconds: now.nanoseconds - age)
        if !states[tag].isPending { openWindow(of: tag, ofPacketAt: sent, now: now) }
        states[tag].latestPacket = max(states[tag].latestPacket ?? sent, sent)
        // Once all gateways that heard the tag in the last window have heard it again, there is nothing to wait for.
        if isComplete(tag) { judge(tag, at: now, &effects) }
    }

    /// Whether all gateways that heard the tag in the last window have heard it again.
    ///
    /// It is always inlined: the call of a method that only reads would copy the engine, a kilobyte for each reading.
    @inline(__always)
    private func isComplete(_ tag: TagIndex) -> Bool {
        guard let judged = states[tag].judged else { return false }
        for heard in states[tag].levels
        where heard.at <= judged && judged.nanoseconds - heard.at.nanoseconds < Tag.secondNanoseconds { return false }
        return true
    }

    /// - Parameter sent: When the tag sent the packet that opens the window.
    private mutating func openWindow(of tag: TagIndex, ofPacketAt sent: MonotonicInstant, now: MonotonicInstant) {
        states[tag].isPending = true
        let isRare =
            states[tag].latestPacket.map { sent.nanoseconds - $0.nanoseconds > Tag.secondNanoseconds } ?? true
        if isRare {
            openWindows.long.append(tag, until: now.advanced(bySeconds: tuning.rareGatherSeconds))
        } else {
            openWindows.short.append(tag, until: now.advanced(bySeconds: tuning.gatherSeconds))
        }
    }

    /// Does what is due at `now`.
    private mutating func expire(at now: MonotonicInstant, _ effects: inout [Effect]) {
        while let tag = openWindows.removeEnded(by: now) {
            guard states.contains(index: tag), states[tag].isPending else { continue }
            judge(tag, at: now, &effects)
            // What arrives at the same instant comes after the window.
            states[tag].judged = MonotonicInstant(nanoseconds: now.nanoseconds - 1)
        }
        silence(at: now, &effects)
        if let deadline = presence.nextDeadline, deadline <= now { take(presence.tick(at: now), at: now, &effects) }
    }

    // MARK: Home and away

    mutating func take(_ changes: [TagPresence.Change], at now: MonotonicInstant, _ effects: inout [Effect]) {
        for change in changes {
            switch change {
            case .entered(let tag): if !departures.remove(tag) { setHome(tag, true, at: now, &effects) }
            case .left(let tag, let last): departures.insert(tag, at: now, last: last)
            }
        }
    }

    mutating func setHome(
        _ tag: TagIndex, _ isHome: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard states.contains(index: tag), states[tag].isHome != isHome else { return }
        let from = states[tag].room
        states[tag].isHome = isHome
        states[tag].room = nil
        states[tag].since = now
        if !isHome {
            learnRest(of: tag)
            states[tag].belief = []
            states[tag].levels = []
            states[tag].judged = nil
            states[tag].forgetRest()
        }
        decide(tag, from: from, confidence: isHome ? 0 : 1, &effects)
    }

    mutating func decide(_ tag: TagIndex, from: RoomIndex?, confidence: Float, _ effects: inout [Effect]) {
        counters.decisions += 1
        effects.append(
            .decided(
                Decision(
                    tag: tag.position, isHome: states[tag].isHome, from: roomName(from), to: roomName(states[tag].room),
                    confidence: confidence)))
    }

    func roomName(_ room: RoomIndex?) -> RoomName? { room.map { rooms[$0].name } }
}
