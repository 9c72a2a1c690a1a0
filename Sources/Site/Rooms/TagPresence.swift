import Base
import Beacon
import Presence
import Regions
import SiteProtocol

/// Which tags are at home: the presence engine in terms of tags and gateways.
///
/// To presence each tag is a region with the tag's id, at the tag's index, and each gateway is a receiver. Only this type knows that.
struct TagPresence: Sendable {
    enum Change: Hashable, Sendable {
        case entered(TagIndex)
        case left(TagIndex, last: BeaconID)
    }

    /// With more than `fewTags` tags, the number of gateways that decide whether a tag is at home, of those that hear it. With
    /// three, four and sixteen no tag of the simulated house was wrongly away. With three, a tag that more gateways heard well
    /// is away after about a minute; with sixteen, after the leave timeout of the slowest of them.
    private static let mostWitnesses = 3
    /// Up to this number of tags, the models of all gateways take little memory: 120 bytes for each.
    private static let fewTags = 500

    /// The longest silence after which a gateway gives up a tag, seconds.
    static var longestLeaveTimeout: Float { PresenceTiming.capSeconds }

    private var engine: PresenceEngine

    init(mostTags: Int) {
        // Not jointly: a body hides a tag from all gateways at once, and messages may be late. On flat-rooms.csv, joint
        // decisions made tags wrongly away, and one walk was right for .886 of the time instead of .897.
        // A beacon is one tag: one that a tag names exactly is not heard as another tag that has the UUID alone.
        engine = PresenceEngine(mostStrangers: mostTags + 1000, decidesJointly: false, isExclusive: true)
    }

    var nextDeadline: MonotonicInstant? { engine.nextDeadline }

    /// The tag of a beacon; nil if the beacon is not a tag.
    mutating func tag(of beacon: BeaconID) -> TagIndex? {
        engine.mostExactRegion(of: beacon).map(TagIndex.init(number:))
    }

    func isInside(_ tag: TagDescription) -> Bool { engine.isOccupied(Self.region(of: tag)) }

    /// The silence after which the slowest of its gateways gives up the tag; nil if none hears it.
    func leaveTimeout(of tag: TagDescription, at now: MonotonicInstant) -> Duration? {
        engine.explain(Self.region(of: tag), at: now).filter(\.isNear).flatMap(\.links).map(\.leaveTimeout).max()
    }

    mutating func hear(_ reading: Reading, by gateway: GatewayIndex, at now: MonotonicInstant) -> [Change] {
        let sighting = Sighting(
            beacon: reading.beacon, measuredPower: MeasuredPower(dBm: -59),
            rssi: reading.level.flatMap { RSSI(reported: Int8(max(-127, min(20, $0)))) },
            receiver: Self.receiver(of: gateway))
        return handle(.sighting(sighting), at: now)
    }

    mutating func setListening(_ gateway: GatewayIndex, _ isListening: Bool, at now: MonotonicInstant) -> [Change] {
        handle(.listening(Self.receiver(of: gateway), isListening), at: now)
    }

    /// Nanoseconds for which the gateway has listened.
    mutating func listened(by gateway: GatewayIndex, at now: MonotonicInstant) -> Int64 {
        engine.listened(by: Self.receiver(of: gateway), at: now)
    }

    /// The gateway has listened no longer than this many nanoseconds.
    mutating func forgetListening(of gateway: GatewayIndex, after listened: Int64, at now: MonotonicInstant) {
        engine.forgetListening(of: Self.receiver(of: gateway), after: listened, at: now)
    }

    /// Whether every gateway that heard this beacon of the tag has listened without it for long enough.
    mutating func hasGivenUp(_ beacon: BeaconID, of tag: TagDescription, at now: MonotonicInstant) -> Bool {
        engine.hasGivenUp(beacon, in: Self.region(of: tag), at: now)
    }

    mutating func tick(at now: MonotonicInstant) -> [Change] { handle(.tick, at: now) }

    /// Replaces the tags, by their indices. What is known about a tag is kept while its id and pattern stay the same. This
    /// causes no change of a tag that stays.
    mutating func replaceTags(by tags: [TagDescription], at now: MonotonicInstant) {
        engine.mostReceivers = tags.count > Self.fewTags ? Self.mostWitnesses : PresenceTiming.mostReceivers
        _ = engine.handle(.regions(Self.regions(of: tags)), at: now)
    }

    /// Sets which of these tags are phones.
    ///
    /// - Returns: Tags that are no longer phones, and have been silent for too long.
    mutating func setPhones(of tags: [TagDescription], at now: MonotonicInstant) -> [Change] {
        handle(.regions(Self.regions(of: tags)), at: now)
    }

    /// The beacon of a tag that stands for it until a real one is heard. It is unknown which beacon a tag without major or minor
    /// was, so it is one that no other tag has.
    mutating func standIn(for tag: TagIndex, in tags: Tags) -> BeaconID {
        let pattern = tags[tag].description.pattern
        var standIn = BeaconID(uuid: pattern.uuid, major: pattern.major ?? 0, minor: pattern.minor ?? 0)
        guard pattern.major == nil || pattern.minor == nil else { return standIn }
        // The others have one beacon each at most, so that a free one is among these.
        for offset in 0...tags.count {
            let number = UInt16(truncatingIfNeeded: tag.number + offset)
            standIn = BeaconID(uuid: pattern.uuid, major: pattern.major ?? number, minor: pattern.minor ?? number)
            if self.tag(of: standIn) == tag { break }
        }
        return standIn
    }

    /// Restores tags that were at home when the service ended. They count as heard now.
    mutating func restore(_ tags: [(tag: TagDescription, beacon: BeaconID)], at now: MonotonicInstant) {
        engine.restore(occupied: tags.map { (region: Self.region(of: $0.tag), beacon: $0.beacon) }, at: now)
    }

    private mutating func handle(_ input: PresenceEngine.Input, at now: MonotonicInstant) -> [Change] {
        let effects = engine.handle(input, at: now)
        guard !effects.isEmpty else { return [] }
        return effects.compactMap { effect in
            switch effect {
            case .entered(let region, _): engine.index(of: region).map { .entered(TagIndex(number: $0)) }
            case .left(let region, let last, _):
                engine.index(of: region).map { .left(TagIndex(number: $0), last: last) }
            // The rooms service does not report this yet.
            case .dropped: nil
            }
        }
    }

    private static func regions(of tags: [TagDescription]) -> [MonitoredRegion] {
        tags.map { tag in
            var region = MonitoredRegion(key: region(of: tag), pattern: tag.pattern, leaveRule: .auto)
            region.isOfPhone = tag.isPhone
            return region
        }
    }

    /// All tags belong to one tracker: the site.
    private static func region(of tag: TagDescription) -> RegionKey { RegionKey(tracker: 0, rid: tag.id) }

    private static func receiver(of gateway: GatewayIndex) -> Receiver {
        Receiver(index: UInt16(truncatingIfNeeded: gateway.number))
    }
}
