import Base
import Beacon
import Regions
import Rooms
import RoomsSupport
import SiteProtocol

/// Gateways in a row, each in its room, and tags that each are heard by the nearest of them: the messages of each second.
struct FeedCrowd {
    static let uuid = BeaconUUID(high: 0xca27_1eae_5fa8_4e80, low: 0x8f08_2a30_2a95_a959)
    let gateways: Int
    let tags: Int
    /// Gateways that hear a tag.
    let hearers: Int
    private var random = Random(seed: 7)
    /// The number of the latest message of each gateway.
    private var sequences: [Int: Int64] = [:]

    init(gateways: Int, tags: Int, hearers: Int) {
        (self.gateways, self.tags, self.hearers) = (gateways, tags, hearers)
    }

    /// An engine that knows all of them.
    func engine() -> RoomEngine {
        var bounds = RoomEngine.Bounds()
        bounds.gateways = max(bounds.gateways, gateways)
        bounds.rooms = max(bounds.rooms, gateways)
        bounds.tags = max(bounds.tags, tags)
        var engine = RoomEngine(bounds: bounds)
        // What a gateway says does not count before its third message.
        var learned = LearnedSite()
        learned.gateways = (0..<gateways).map { LearnedSite.Gateway(name: "gateway\($0)", room: nil) }
        engine.restore(learned)
        let descriptions = (0..<tags).map { tag in
            TagDescription(
                id: "tag\(tag)", name: "Tag \(tag)",
                pattern: BeaconPattern(
                    uuid: Self.uuid, major: UInt16(truncatingIfNeeded: tag >> 8), minor: UInt16(tag & 255)))
        }
        _ = engine.handle(.tags(descriptions), at: MonotonicInstant(nanoseconds: 1))
        for gateway in 0..<gateways {
            _ = engine.handle(
                .card(gateway: "gateway\(gateway)", room: "Room \(gateway)"), at: MonotonicInstant(nanoseconds: 1))
        }
        return engine
    }

    /// What gateways that are near hear of each other.
    static func levels(gateways: Int, hearers: Int) -> RoomEngine.Input {
        let pairs = (0..<gateways).flatMap { sender in
            (1..<min(hearers, gateways)).map { near in
                SurveyedLevels.Pair(
                    sender: "gateway\(sender)", receiver: "gateway\((sender + near) % gateways)",
                    level: -58 - 4 * Float(near))
            }
        }
        return .levels(SurveyedLevels(pairs: pairs))
    }

    /// Three floors, with a stair room in eight.
    static func floors(gateways: Int) -> RoomEngine.Input {
        let floors = (0..<gateways).compactMap { gateway in
            RoomName("Room \(gateway)").map {
                ($0, RoomFloor(floor: gateway * 3 / gateways, isStairs: gateway % 8 == 0))
            }
        }
        return .floors(Dictionary(floors) { first, _ in first })
    }

    /// What all gateways publish about one second: at most 256 readings each.
    mutating func messages(ofSecond second: Int) -> [(gateway: String, payload: [UInt8])] {
        var beacons = [[[UInt8]]](repeating: [], count: gateways)
        for tag in 0..<tags {
            let first = tag * 7919 % gateways
            for near in 0..<hearers {
                let level = -58 - 4 * near + Int(random.normal() * 3)
                let text =
                    #"{"id":"\#(Self.uuid):\#(tag >> 8):\#(tag & 255)","n":1,"rssi":\#(level),"max":\#(level),"power":-59,"age":\#(random.below(1000))}"#
                beacons[(first + near) % gateways].append(Array(text.utf8))
            }
        }
        var messages: [(gateway: String, payload: [UInt8])] = []
        for gateway in 0..<gateways {
            for start in stride(from: 0, to: max(1, beacons[gateway].count), by: 256) {
                sequences[gateway, default: 0] += 1
                let head =
                    #"{"v":1,"boot":"b","seq":\#(sequences[gateway] ?? 0),"at":\#(second * 1000),"listening":1000,"reports":900,"beacons":["#
                let list = beacons[gateway][start..<min(start + 256, beacons[gateway].count)].joined(separator: [44])
                messages.append(("gateway\(gateway)", Array(head.utf8) + Array(list) + Array("]}".utf8)))
            }
        }
        return messages
    }
}
