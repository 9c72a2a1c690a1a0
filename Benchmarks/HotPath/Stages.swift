import Base
import Beacon
import CFloor
import Presence
import Regions

/// Something done for every report of a corpus, again and again.
enum Stage: String, CaseIterable {
    /// Plain C: takes reports apart and recognises iBeacons.
    case floor
    /// The same by the parser that ships.
    case parser
    /// From the bytes of an event to who is inside.
    case path
    /// From the bytes of an event to the device whose key is known, with 64 keys.
    case identities
    /// From a sighting to the readings of each second.
    case feed
    /// From the bytes of a message of a gateway to these readings.
    case messages
    /// From these readings to the room of each tag.
    case rooms
    /// The same where it is known what gateways hear of each other, on which floors the rooms are, and both.
    case survey
    case floors
    case both

    /// Does this for every report of the corpus, or for readings of its own.
    ///
    /// - Parameter gateways: Of the site whose engine is given readings.
    /// - Returns: A function of one pass; it returns the number of reports.
    func repeated(over corpus: Corpus, gateways: Int = 10) -> () -> UInt64 {
        switch self {
        case .floor:
            let course = Course(corpus, regions: [])
            return { course.readFloor().reports }
        case .parser:
            var course = Course(corpus, regions: [])
            return { course.parse().reports }
        case .path:
            var course = Course(corpus, regions: regions(1000))
            return { course.decide().reports }
        case .identities:
            var course = IdentityCourse(corpus, keys: 64)
            return { course.run().reports }
        case .feed:
            var course = FeedCourse(corpus)
            return { UInt64(course.run()) }
        case .messages:
            let course = MessagesCourse()
            return { UInt64(course.run()) }
        case .rooms: return Self.rooms(gateways, [])
        case .survey: return Self.rooms(gateways, .survey)
        case .floors: return Self.rooms(gateways, .floors)
        case .both: return Self.rooms(gateways, [.survey, .floors])
        }
    }

    private static func rooms(_ gateways: Int, _ knowledge: RoomsCourse.Knowledge) -> () -> UInt64 {
        var course = RoomsCourse(gateways: gateways, knowing: knowledge)
        return { UInt64(course.run()) }
    }
}

/// A corpus, and a presence engine that hears it.
struct Course {
    let corpus: Corpus
    private var parser = AdvertisingReportParser()
    private var malformed = MalformedCounters()
    private var decoder = BeaconDecoder()
    private(set) var engine: PresenceEngine
    private var passes: Int64 = 0
    private(set) var changes = 0

    /// - Parameter limit: Beacons that are remembered at most; nil as shipped.
    init(_ corpus: Corpus, regions: [MonitoredRegion], limit: Int? = nil) {
        self.corpus = corpus
        engine = limit.map { PresenceEngine(mostStrangers: $0) } ?? PresenceEngine()
        _ = engine.handle(.regions(regions), at: .zero)
        _ = engine.handle(.listening(Receiver(index: 0), true), at: .zero)
    }

    func readFloor() -> floor_sum {
        corpus.bytes.withUnsafeBufferPointer { bytes in
            floor_read(bytes.baseAddress, corpus.events, corpus.events.count)
        }
    }

    // The loop stands in both stages: shared, through a closure for what is done with a beacon, it costs the parser's
    // stage 51 instructions for each report (368 to 317), which are not the parser's.
    mutating func parse() -> floor_sum {
        var sum = floor_sum()
        let before = parser.reports
        let corpus = corpus
        let bytes = corpus.bytes.span
        for event in corpus.events {
            let start = Int(event.offset)
            parser.parse(event: bytes.extracting(start..<start + Int(event.length))) { report, data in
                guard let beacon = IBeacon(advertisingData: data, malformed: &malformed) else { return }
                sum.beacons += 1
                sum.checksum &+=
                    beacon.id.uuid.high ^ beacon.id.uuid.low
                    ^ UInt64(beacon.id.major) ^ UInt64(beacon.id.minor)
                let levels = Int64(beacon.measuredPower.dBm) + Int64(report.rssi?.dBm ?? 127)
                sum.checksum &+= UInt64(bitPattern: levels)
            }
        }
        sum.reports = parser.reports - before
        return sum
    }

    mutating func decide() -> floor_sum {
        var sum = floor_sum()
        let before = parser.reports
        let corpus = corpus
        let bytes = corpus.bytes.span
        for event in corpus.events {
            let start = Int(event.offset)
            let now = MonotonicInstant(nanoseconds: event.nanoseconds + passes * corpus.span)
            let receiver = Receiver(index: UInt16(event.receiver))
            parser.parse(event: bytes.extracting(start..<start + Int(event.length))) { report, data in
                let found = decoder.sighting(in: data, of: report, by: receiver, at: now) { _ in }
                guard let sighting = found else { return }
                sum.beacons += 1
                changes += engine.handle(.sighting(sighting), at: now).count
            }
        }
        passes += 1
        sum.reports = parser.reports - before
        return sum
    }
}

/// Regions for the beacons that make-capture invents: each beacon is in exactly one, however many there are.
func regions(_ count: Int) -> [MonitoredRegion] {
    (0..<count).map { number in
        let owner = UInt64(number % 10)
        let uuid = BeaconUUID(high: 0x1bea_c000_0000_4000 + owner, low: 0x8000_0000_0000_0000 + owner)
        let major = UInt16(number / 10 % 100 + 1)
        let minor = UInt16(number / 1000 + 1)
        let pattern = BeaconPattern(
            uuid: uuid, major: count > 10 ? major : nil, minor: count > 1000 ? minor : nil)
        return MonitoredRegion(key: RegionKey(tracker: 0, rid: "\(number)"), pattern: pattern, leaveRule: .auto)
    }
}
