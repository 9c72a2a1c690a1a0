import Base
import Beacon
import Testing

@testable import ReadingFeed

/// What a gateway publishes in place of an ESPresense node.
@Suite struct NodeFeedTests {
    private let radio = Receiver(index: 0)
    private let jane = BeaconID(
        uuid: BeaconUUID(high: 0xCA27_1EAE_5FA8_4E80, low: 0x8F08_2A30_2A95_A959), major: 1, minor: 7)

    private func instant(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }

    /// The node's messages while the tag is heard once a second at these levels, with the second of each.
    private func messages(_ levels: [Int8], of beacon: BeaconID? = nil, actsAsNode: Bool = true) -> [(Int, String)] {
        var feed = ReadingFeed(startID: "b", actsAsNode: actsAsNode)
        _ = feed.handle(.tags([jane]), at: instant(100))
        return levels.enumerated().flatMap { second, level in
            let sighting = Sighting(
                beacon: beacon ?? jane, measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: level),
                receiver: radio)
            _ = feed.handle(.sighting(sighting), at: instant(100.5 + Double(second)))
            return feed.handle(.tick, at: instant(101 + Double(second))).compactMap { message -> (Int, String)? in
                guard case .node(_, let payload) = message else { return nil }
                return (second, String(decoding: payload, as: UTF8.self))
            }
        }
    }

    @Test func `A tag is described as ESPresense describes it`() {
        #expect(
            messages([-71]).map(\.1) == [
                #"{"id":"iBeacon:ca271eae-5fa8-4e80-8f08-2a302a95a959-1-7","rssi@1m":-59,"rssi":-71,"distance":2.78}"#
            ])
    }

    @Test func `Without the setting there are none, and never for a beacon that is no tag`() {
        #expect(messages([-71], actsAsNode: false).isEmpty)
        #expect(messages([-71], of: BeaconID(uuid: jane.uuid, major: 1, minor: 8)).isEmpty)
    }

    @Test func `A tag at rest is repeated every five seconds`() {
        #expect(messages(Array(repeating: -71, count: 11)).map(\.0) == [0, 5, 10])
    }

    @Test func `A distance that changes by half a metre is published at once`() {
        #expect(messages([-59, -59, -75]).map(\.0) == [0], "the first strong second is smoothed")
        #expect(messages([-59, -59, -85, -85]).map(\.0) == [0, 2, 3])
    }

    @Test(arguments: [(Float(-59), 1.0), (-86, 10), (-32, 0.1), (-50, 0.4642), (-71, 2.7826), (-127, 100)])
    func `The distance is ESPresense's`(level: Float, metres: Double) {
        #expect(abs(NodeFeed.distance(level: level, measuredPower: MeasuredPower(dBm: -59)) - metres) < 0.001)
    }
}
