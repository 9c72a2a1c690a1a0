import Base
import Beacon
import Testing

@testable import ReadingFeed

/// What a gateway says of beacons that are no tags, when the page of the rooms service asks.
@Suite struct NearbyFeedTests {
    private let radio = Receiver(index: 0)
    private let jane = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 7)

    private func instant(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }
    private func other(_ minor: UInt16) -> BeaconID {
        BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 2, minor: minor)
    }

    private func sighting(_ beacon: BeaconID, _ level: Int8) -> Sighting {
        Sighting(
            beacon: beacon, measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: level), receiver: radio)
    }

    /// A feed with Jane's tag, whose first second begins at 100 s.
    private func feed() -> ReadingFeed {
        var feed = ReadingFeed(startID: "b")
        _ = feed.handle(.listening(radio, true), at: instant(90))
        _ = feed.handle(.tags([jane]), at: instant(100))
        return feed
    }

    private func nearby(_ messages: [ReadingFeed.Message]) -> [NearbyBeacon] {
        messages.flatMap { message -> [NearbyBeacon] in
            if case .nearby(let beacons) = message { beacons } else { [] }
        }
    }

    @Test func `Without a request other beacons cause neither a message nor a timer`() {
        var feed = feed()
        let before = feed.nextDeadline
        _ = feed.handle(.sighting(sighting(other(1), -50)), at: instant(100.5))
        #expect(feed.nextDeadline == before)
        #expect(feed.handle(.tick, at: instant(101)).isEmpty)
    }

    @Test func `On request each second has its strongest beacons, and tags are not among them`() {
        var feed = feed()
        _ = feed.handle(.nearby(.seconds(60)), at: instant(100))
        _ = feed.handle(.sighting(sighting(jane, -40)), at: instant(100.1))
        for minor in 1...30 {
            _ = feed.handle(.sighting(sighting(other(UInt16(minor)), Int8(-100 + minor))), at: instant(100.2))
        }
        _ = feed.handle(.sighting(sighting(other(1), -30)), at: instant(100.3))
        #expect(feed.nextDeadline == instant(101))
        let messages = feed.handle(.tick, at: instant(101))
        #expect(messages.count == 2)
        let beacons = nearby(messages)
        #expect(beacons.map(\.beacon.minor) == [1] + (12...30).reversed().map { UInt16($0) })
        #expect(beacons.first?.count == 2 && beacons.first?.level == -30)
        #expect(nearby(feed.handle(.tick, at: instant(102))).isEmpty)
    }

    @Test(arguments: [(5.0, 5), (0.0, 0), (10_000.0, 300)])
    func `A request holds for its time, at most five minutes`(_ seconds: Double, _ reported: Int) {
        var feed = feed()
        _ = feed.handle(.nearby(.seconds(seconds)), at: instant(100))
        var count = 0
        for second in 100..<450 {
            _ = feed.handle(.sighting(sighting(other(1), -50)), at: instant(Double(second) + 0.5))
            count += nearby(feed.handle(.tick, at: instant(Double(second) + 1))).count
        }
        #expect(count == reported)
    }

    @Test func `Without a list of tags a request is not answered, and the list's removal ends one`() {
        var off = ReadingFeed(startID: "b")
        _ = off.handle(.nearby(.seconds(60)), at: instant(100))
        _ = off.handle(.sighting(sighting(other(1), -50)), at: instant(100.5))
        #expect(off.nextDeadline == nil)
        var feed = feed()
        _ = feed.handle(.nearby(.seconds(60)), at: instant(100))
        _ = feed.handle(.tags(nil), at: instant(101))
        _ = feed.handle(.tags([jane]), at: instant(102))
        _ = feed.handle(.sighting(sighting(other(1), -50)), at: instant(102.5))
        #expect(nearby(feed.handle(.tick, at: instant(103))).isEmpty)
    }

    @Test func `Thousands of invented beacons fill no more than the room of a second`() {
        var collector = NearbyFeed()
        collector.collect(for: .seconds(60), at: instant(100))
        for minor in 0..<10_000 { collector.add(sighting(other(UInt16(minor)), -90)) }
        let beacons = collector.finish(at: instant(101))
        #expect(beacons.count == NearbyFeed.mostReported)
        #expect(beacons.allSatisfy { $0.beacon.minor < 256 })
        #expect(collector.isEmpty)
    }

    @Test func `A beacon without a level comes after those with one`() {
        var collector = NearbyFeed()
        collector.collect(for: .seconds(60), at: instant(100))
        collector.add(
            Sighting(beacon: other(1), measuredPower: MeasuredPower(dBm: -59), rssi: nil, receiver: radio))
        collector.add(sighting(other(2), -99))
        #expect(collector.finish(at: instant(101)).map(\.beacon.minor) == [2, 1])
    }
}
