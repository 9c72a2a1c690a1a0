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

/// The room engine of a site, each of whose gateways is in a room of its own, and a hundred tags.
struct RoomsCourse {
    /// What the engine knows of the house.
    struct Knowledge: OptionSet {
        let rawValue: Int
        /// What gateways that are near hear of each other.
        static let survey = Knowledge(rawValue: 1)
        /// Three floors, with a stair room in eight.
        static let floors = Knowledge(rawValue: 2)
    }

    private static let tags = 100
    /// Of one pass.
    private static let seconds = 10
    /// The survey tells what it knows every so many seconds, as in the service.
    private static let surveySeconds: Int64 = 5

    private let gateways: Int
    /// In the order in which they come.
    private var messages: [(gateway: String, heard: HeardSecond)] = []
    private var engine = RoomEngine()
    private var levels: RoomEngine.Input?
    private var second: Int64 = 0

    /// - Parameter gateways: Five of up to ten hear a tag, and eight of more.
    init(gateways: Int = 10, knowing knowledge: Knowledge = []) {
        self.gateways = gateways
        let hearers = gateways > 10 ? 8 : 5
        let uuid = BeaconUUID(high: 0x1bea_c000_0000_4000, low: 0x8000_0000_0000_0000)
        let descriptions = (0..<Self.tags).map { tag in
            TagDescription(
                id: "tag\(tag)", name: "Tag \(tag)", pattern: BeaconPattern(uuid: uuid, major: 1, minor: UInt16(tag)))
        }
        _ = engine.handle(.tags(descriptions), at: .zero)
        var floors: [RoomName: RoomFloor] = [:]
        for gateway in 0..<gateways {
            guard let room = RoomName("Room \(gateway)") else { continue }
            _ = engine.handle(.card(gateway: "gateway\(gateway)", room: room), at: .zero)
            floors[room] = RoomFloor(floor: gateway * 3 / gateways, isStairs: gateway % 8 == 0)
        }
        if knowledge.contains(.floors) { _ = engine.handle(.floors(floors), at: .zero) }
        if knowledge.contains(.survey) { levels = Self.levels(gateways, hearers) }
        var noise = Noise()
        for _ in 0..<Self.seconds {
            var readings = [[Reading]](repeating: [], count: gateways)
            for tag in 0..<Self.tags {
                for near in 0..<hearers {
                    let level = Float(-58 - 5 * near + noise.below(7))
                    let reading = Reading(
                        beacon: BeaconID(uuid: uuid, major: 1, minor: UInt16(tag)), count: 1, level: level,
                        power: -59, age: .milliseconds(noise.below(1000)))
                    readings[(tag + near) % gateways].append(reading)
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

    private static func levels(_ gateways: Int, _ hearers: Int) -> RoomEngine.Input {
        let pairs = (0..<gateways).flatMap { sender in
            (1..<min(hearers, gateways)).map { near in
                SurveyedLevels.Pair(
                    sender: "gateway\(sender)", receiver: "gateway\((sender + near) % gateways)",
                    level: Float(-58 - 5 * near))
            }
        }
        return .levels(SurveyedLevels(pairs: pairs))
    }

    /// - Returns: How many readings it was given.
    mutating func run() -> Int {
        var readings = 0
        for start in stride(from: 0, to: messages.count, by: gateways) {
            second += 1
            let begin = MonotonicInstant(nanoseconds: second * 1_000_000_000)
            if let levels, second % Self.surveySeconds == 1 {
                _ = engine.handle(.offsets([:]), at: begin)
                _ = engine.handle(levels, at: begin)
            }
            for (index, message) in messages[start..<start + gateways].enumerated() {
                var heard = message.heard
                heard.sequence = second
                heard.at = .seconds(second)
                readings += heard.readings.count
                // The messages of a second come within a tenth of it.
                let now = begin.advanced(by: .milliseconds(index * 100 / gateways))
                _ = engine.handle(.heard(gateway: message.gateway, heard), at: now)
            }
            _ = engine.handle(.tick, at: begin.advanced(by: .milliseconds(700)))
        }
        return readings
    }
}

/// Messages of a gateway as they come from the broker, each with as many readings as with ten gateways.
struct MessagesCourse {
    private static let readings = 50
    private let payloads: [[UInt8]]

    init() {
        var noise = Noise()
        payloads = (0..<100).map { message in
            let beacons = (0..<Self.readings).map { tag in
                let level = -58 - noise.below(40)
                return
                    #"{"id":"1beac000-0000-4000-8000-000000000000:1:\#(tag)","n":1,"rssi":\#(level),"max":\#(level),"power":-59,"age":\#(noise.below(1000))}"#
            }
            let head =
                #"{"v":1,"boot":"b","seq":\#(message),"at":\#(message * 1000),"listening":1000,"reports":900,"beacons":["#
            return Array((head + beacons.joined(separator: ",") + "]}").utf8)
        }
    }

    /// - Returns: How many readings were read.
    func run() -> Int { payloads.reduce(0) { $0 + ((try? FeedDecoder.heard($1))?.readings.count ?? 0) } }
}

/// The same numbers in each run (Knuth's MMIX).
private struct Noise {
    private var state: UInt64 = 19

    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
}
