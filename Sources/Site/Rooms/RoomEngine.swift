package import Base
import Beacon
import Presence
package import SiteProtocol

/// Decides in which room each tag is, from what all gateways of a site hear.
///
/// It reads no clock: time comes with each input. The work of an input is proportional to its readings; a window of a
/// tag costs its rooms times their fingerprints, both of which are bounded.
package struct RoomEngine: Sendable {
    package enum Input: Sendable {
        /// A message of a gateway.
        case heard(gateway: String, HeardSecond)
        /// The gateway's card: the room it stands in.
        case card(gateway: String, room: String)
        /// The gateway is connected, or is not.
        case available(gateway: String, Bool)
        /// The gateway is no longer part of the site.
        case forget(gateway: String)
        /// These are the tags from now on. What is known of a tag is kept while its id and pattern stay.
        case tags([TagDescription])
        /// The tag is in the room, for this long from now on. Zero ends the training.
        case learn(room: String, tag: String, Duration)
        /// Forgets what was learned of a room.
        case forgetRoom(String)
        /// The connection to the broker was lost, or is there again. At first it is there.
        case connected(Bool)
        /// What comes next was recorded at another time: the gateways' clocks are learned anew.
        case discontinuity
        /// Time passed; a deadline may be due.
        case tick
    }

    package enum Effect: Hashable, Sendable {
        case decided(Decision)
        /// Something that a person ought to know.
        case found(Finding)
    }

    /// One change of what is published about a tag.
    package struct Decision: Hashable, Sendable {
        /// Position in `tags`.
        package var tag: Int
        package var isHome: Bool
        /// Ids of the rooms that are reported; nil: not known.
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
        /// More gateways than a site can have.
        case tooManyGateways
        case tooManyRooms
    }

    package struct Counters: Hashable, Sendable {
        package var messages: UInt64 = 0
        package var readings: UInt64 = 0
        /// Messages that came more than 5 s late.
        package var late: UInt64 = 0
        package var repeated: UInt64 = 0
        /// Readings of beacons that are no tags.
        package var foreign: UInt64 = 0
        package var windows: UInt64 = 0
        package var decisions: UInt64 = 0
        /// Messages of gateways, or cards, beyond the bounds.
        package var refused: UInt64 = 0
    }

    /// Gateways of a site: presence tells 256 receivers apart.
    package static let mostGateways = 250
    package static let mostRooms = 250
    package static let mostTags = FeedDecoder.mostTags
    /// Gateways that decide whether a tag is at home, of those that hear it, where there are more tags than `fewTags`. With
    /// three, four and sixteen no tag of the simulated house was away that was there. With three it takes about a minute until
    /// one is away that more gateways heard well; with sixteen, the leave timeout of the slowest of them.
    static let mostWitnesses = 3
    /// With so many tags the models of all gateways take little memory: 120 bytes for each.
    static let fewTags = 500

    package let tuning: RoomTuning
    package internal(set) var counters = Counters()
    var gateways: [GatewayState] = []
    var gatewayPlaces: [String: Int] = [:]
    package internal(set) var rooms: [Room] = []
    var roomPlaces: [String: Int] = [:]
    var states: [Tag] = []
    /// Each tag is a region, at the same position.
    var presence: PresenceEngine
    var departures = Departures()
    /// When a message came last from any gateway.
    var latestMessage = Int64.min
    var openWindows = OpenWindows()
    var learners: [Learner] = []
    /// The latest training run with each tag, by its place. Few tags have one.
    var trainings: [Int: TrainingRun] = [:]
    var order: UInt64 = 0
    var scratch = Scratch()
    let bounds: Bounds

    /// How much of everything; the benchmark looks beyond.
    package struct Bounds: Sendable {
        package var gateways = RoomEngine.mostGateways
        package var rooms = RoomEngine.mostRooms
        package var tags = RoomEngine.mostTags
        package init() {}
    }

    package init(tuning: RoomTuning = RoomTuning(), bounds: Bounds = Bounds()) {
        self.tuning = tuning
        self.bounds = bounds
        // Not jointly: a body hides a tag from all gateways at once, and messages may be late. On flat-rooms.csv tags went away
        // that were there, and one walk gave .886 of the time right instead of .897.
        presence = PresenceEngine(mostStrangers: bounds.tags + 1000, decidesJointly: false)
    }

    /// When `tick` has something to decide; nil: nothing is pending.
    package var nextDeadline: MonotonicInstant? {
        var next = presence.nextDeadline
        if let end = openWindows.earliestEnd {
            let due = MonotonicInstant(nanoseconds: end)
            next = min(next ?? due, due)
        }
        for gateway in gateways where gateway.isListening {
            next = min(next ?? gateway.silentAt(tuning), gateway.silentAt(tuning))
        }
        return next
    }

    package var tags: [TagDescription] { states.map(\.description) }

    /// Takes one input at `now`, which never lies before the previous one.
    package mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        expire(at: now, &effects)
        switch input {
        case .heard(let gateway, let second): hear(gateway, second, at: now, &effects)
        case .card(let gateway, let room): place(gateway, in: room, at: now.nanoseconds, &effects)
        case .available(let gateway, let isAvailable): setAvailable(gateway, isAvailable, at: now, &effects)
        case .forget(let gateway): forget(gateway, at: now, &effects)
        case .tags(let tags): replaceTags(by: tags, at: now, &effects)
        case .learn(let room, let tag, let duration): learn(room, tag, duration, at: now, &effects)
        case .forgetRoom(let room): forgetRoom(named: room)
        case .connected(let isConnected): setConnected(isConnected, at: now)
        case .discontinuity:
            for place in gateways.indices { gateways[place].clock.forget() }
            for place in states.indices { learnRest(of: place) }
        case .tick: break
        }
        confirmDepartures(at: now, &effects)
        return effects
    }

    // MARK: Hearing

    private mutating func hear(
        _ name: String, _ second: HeardSecond, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        counters.messages += 1
        guard let gateway = gatewayPlace(name, &effects) else {
            counters.refused += 1
            return
        }
        switch gateways[gateway].clock.judge(second, at: now.nanoseconds) {
        case .fresh: break
        case .late:
            counters.late += 1
            return
        case .repeated:
            counters.repeated += 1
            return
        }
        recordMessage(of: gateway, second, at: now, &effects)
        for reading in second.readings {
            counters.readings += 1
            guard let tag = presence.mostExactRegion(of: reading.beacon) else {
                counters.foreign += 1
                continue
            }
            handle(reading, of: tag, by: gateway, at: now, &effects)
        }
    }

    private mutating func handle(
        _ reading: Reading, of tag: Int, by gateway: Int, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let sighting = Sighting(
            beacon: reading.beacon, measuredPower: MeasuredPower(dBm: -59),
            rssi: reading.level.flatMap { RSSI(reported: Int8(max(-127, min(20, $0)))) },
            receiver: Receiver(index: UInt8(gateway % Self.mostGateways)))
        pass(.sighting(sighting), at: now, &effects)
        guard let level = reading.level, states[tag].isHome || trainedRoom(of: tag) >= 0 else { return }
        // What a tag of another power would have been heard at. A power that is none is not gone by.
        let power = reading.power.flatMap { (-90 ... -40).contains($0) ? $0 : nil } ?? -59
        states[tag].hear(
            HeardLevel(
                gateway: UInt16(gateway), packets: Int16(clamping: reading.count),
                level: max(-120, min(20, level)) - 59 - power, at: now.nanoseconds))
        let sent = now.nanoseconds - max(0, min(Self.second, reading.age.nanoseconds))
        if !states[tag].isPending { openWindow(of: tag, ofPacketAt: sent, now: now.nanoseconds) }
        states[tag].latestPacket = max(states[tag].latestPacket, sent)
        // Once all that heard it in the last window have heard it again there is nothing to wait for.
        if isComplete(states[tag]) { judge(tag, at: now, &effects) }
    }

    private func isComplete(_ tag: Tag) -> Bool {
        guard tag.judged != .min else { return false }
        for heard in tag.levels where heard.at <= tag.judged && tag.judged - heard.at < Self.second { return false }
        return true
    }

    /// - Parameter sent: When the tag sent the packet that opens the window, nanoseconds of the service's clock.
    private mutating func openWindow(of tag: Int, ofPacketAt sent: Int64, now: Int64) {
        states[tag].isPending = true
        let isRare = states[tag].latestPacket == .min || sent - states[tag].latestPacket > Self.second
        if isRare {
            openWindows.long.append(tag, until: now + Int64(tuning.rareGatherSeconds * 1e9))
        } else {
            openWindows.short.append(tag, until: now + Int64(tuning.gatherSeconds * 1e9))
        }
    }

    /// A second, with the jitter of messages, in nanoseconds.
    private static let second: Int64 = 1_500_000_000

    /// Does what is due at `now`.
    private mutating func expire(at now: MonotonicInstant, _ effects: inout [Effect]) {
        while let tag = openWindows.removeEnded(by: now.nanoseconds) {
            guard tag < states.count, states[tag].isPending else { continue }
            judge(tag, at: now, &effects)
            // What arrives at the same instant comes after the window.
            states[tag].judged = now.nanoseconds - 1
        }
        silence(at: now, &effects)
        if let deadline = presence.nextDeadline, deadline <= now { pass(.tick, at: now, &effects) }
    }

    // MARK: Home and away

    mutating func pass(_ input: PresenceEngine.Input, at now: MonotonicInstant, _ effects: inout [Effect]) {
        for effect in presence.handle(input, at: now) {
            switch effect {
            case .entered(let key, _):
                if !departures.remove(key.tracker) { setHome(key.tracker, true, at: now, &effects) }
            case .left(let key, _, _): departures.insert(key.tracker, at: now.nanoseconds)
            // The rooms service does not report this yet.
            case .turnedAway: break
            }
        }
    }

    mutating func setHome(
        _ tag: Int, _ isHome: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard tag < states.count, states[tag].isHome != isHome else { return }
        let from = states[tag].room
        states[tag].isHome = isHome
        states[tag].room = -1
        states[tag].since = now.nanoseconds
        if !isHome {
            learnRest(of: tag)
            states[tag].belief = []
            states[tag].levels = []
            states[tag].judged = .min
        }
        decide(tag, from: from, confidence: isHome ? 0 : 1, &effects)
    }

    mutating func decide(_ tag: Int, from: Int16, confidence: Float, _ effects: inout [Effect]) {
        counters.decisions += 1
        effects.append(
            .decided(
                Decision(
                    tag: tag, isHome: states[tag].isHome, from: roomName(from), to: roomName(states[tag].room),
                    confidence: confidence)))
    }

    func roomName(_ place: Int16) -> RoomName? { place < 0 ? nil : rooms[Int(place)].name }
}
