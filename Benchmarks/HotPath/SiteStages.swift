import Base
import Beacon
import Presence
import ReadingFeed
import Regions
import Rooms
import SiteProtocol

/// A gateway's feed that hears a corpus: the beacons that we know are the tags of a site.
struct FeedCourse {
    private let sightings: [(sighting: Sighting, nanoseconds: Int64)]
    private let span: Int64
    private var feed = ReadingFeed(startID: "benchmark")
    private var passes: Int64 = 0

    init(_ corpus: Corpus) {
        sightings = corpus.sightings
        span = corpus.span
        let ours = Set(regions(10).map(\.pattern.uuid))
        let tags = Set(sightings.map(\.sighting.beacon)).filter { ours.contains($0.uuid) }
        _ = feed.handle(.tags(Array(tags)), at: .zero)
        _ = feed.handle(.listening(Receiver(index: 0), true), at: .zero)
    }

    /// - Returns: How many sightings it was given.
    mutating func run() -> Int {
        for (sighting, nanoseconds) in sightings {
            let now = MonotonicInstant(nanoseconds: nanoseconds + passes * span)
            _ = feed.handle(.sighting(sighting), at: now)
        }
        passes += 1
        return sightings.count
    }
}

/// The room engine of a site of ten gateways, each in a room of its own, that hear a hundred tags.
struct RoomsCourse {
    private static let gateways = 10
    private static let tags = 100
    /// Gateways that hear a tag.
    private static let hearers = 5
    /// Of one pass.
    private static let seconds = 10

    /// In the order in which they come.
    private var messages: [(gateway: String, heard: HeardSecond)] = []
    private var engine = RoomEngine()
    private var second: Int64 = 0

    init() {
        let uuid = BeaconUUID(high: 0x1bea_c000_0000_4000, low: 0x8000_0000_0000_0000)
        let descriptions = (0..<Self.tags).map { tag in
            TagDescription(
                id: "tag\(tag)", name: "Tag \(tag)", pattern: BeaconPattern(uuid: uuid, major: 1, minor: UInt16(tag)))
        }
        _ = engine.handle(.tags(descriptions), at: .zero)
        for gateway in 0..<Self.gateways {
            guard let room = RoomName("Room \(gateway)") else { continue }
            _ = engine.handle(.card(gateway: "gateway\(gateway)", room: room), at: .zero)
        }
        var noise = Noise()
        for _ in 0..<Self.seconds {
            var readings = [[Reading]](repeating: [], count: Self.gateways)
            for tag in 0..<Self.tags {
                for near in 0..<Self.hearers {
                    let level = Float(-58 - 5 * near + noise.below(7))
                    let reading = Reading(
                        beacon: BeaconID(uuid: uuid, major: 1, minor: UInt16(tag)), count: 1, level: level,
                        power: -59, age: .milliseconds(noise.below(1000)))
                    readings[(tag + near) % Self.gateways].append(reading)
                }
            }
            for (gateway, readings) in readings.enumerated() {
                let heard = HeardSecond(
                    startID: "benchmark", sequence: 0, at: nil, listening: .seconds(1), reports: 900, readings: readings
                )
                messages.append(("gateway\(gateway)", heard))
            }
        }
    }

    /// - Returns: How many readings it was given.
    mutating func run() -> Int {
        var readings = 0
        for start in stride(from: 0, to: messages.count, by: Self.gateways) {
            second += 1
            for (index, message) in messages[start..<start + Self.gateways].enumerated() {
                var heard = message.heard
                heard.sequence = second
                heard.at = .seconds(second)
                readings += heard.readings.count
                // The messages of a second come within a tenth of it.
                let now = MonotonicInstant(nanoseconds: second * 1_000_000_000 + Int64(index) * 10_000_000)
                _ = engine.handle(.heard(gateway: message.gateway, heard), at: now)
            }
            _ = engine.handle(.tick, at: MonotonicInstant(nanoseconds: second * 1_000_000_000 + 700_000_000))
        }
        return readings
    }
}

/// The same numbers in each run (Knuth's MMIX).
private struct Noise {
    private var state: UInt64 = 19

    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
