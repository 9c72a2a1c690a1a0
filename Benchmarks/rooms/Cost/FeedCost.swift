import Base
import Beacon
import CHeap
import ReadingFeed

/// What the feed costs a gateway: from sightings to the payload of each second.
enum FeedCost {
    private static let seconds = 2000

    static func printAll() {
        print("\nfeed of a gateway: tags  packets per second  ns per reading  allocations per reading")
        for (tags, packets) in [(1, 1), (10, 1), (10, 10), (1000, 1)] {
            let (time, allocations) = measure(tags: tags, packets: packets)
            let readings = Double(seconds * tags)
            print(
                "\(tags)\t\(packets)\t\(fixed(time * 1e9 / readings, 0))\t\(fixed(Double(allocations) / readings, 2))")
        }
    }

    private static func measure(tags: Int, packets: Int) -> (seconds: Double, allocations: Int) {
        var feed = ReadingFeed(startID: "benchmark")
        let receiver = Receiver(index: 0)
        let beacons = (0..<tags).map { BeaconID(uuid: FeedCrowd.uuid, major: 1, minor: UInt16($0)) }
        _ = feed.handle(.tags(beacons), at: MonotonicInstant(nanoseconds: 1))
        _ = feed.handle(.listening(receiver, true), at: MonotonicInstant(nanoseconds: 1))
        let allocations = heap_allocations()
        let start = processorTime()
        var messages = 0
        for second in 0..<seconds {
            for packet in 0..<packets {
                let now = MonotonicInstant(
                    nanoseconds: Int64(second) * 1_000_000_000 + Int64(packet) * (1_000_000_000 / Int64(packets)) + 2)
                for beacon in beacons {
                    let sighting = Sighting(
                        beacon: beacon, measuredPower: MeasuredPower(dBm: -59),
                        rssi: RSSI(reported: Int8(-60 - (second + packet) % 7)), receiver: receiver)
                    messages += feed.handle(.sighting(sighting), at: now).count
                }
            }
        }
        let elapsed = processorTime() - start
        if messages == 0 { fail("the feed published nothing") }
        return (elapsed, Int(heap_allocations() - allocations))
    }
}
