import Base
import Beacon
import Glibc
import Presence
import Regions

/// Prints the time of one look-up in a dictionary by beacon: figures of a busy or slow machine are read against it.
private func measureYardstick() {
    var places: [BeaconID: Int] = [:]
    let beacons = (0..<1000).map { BeaconID(uuid: benchmarkBeacon.uuid, major: 1, minor: UInt16($0)) }
    for (index, beacon) in beacons.enumerated() { places[beacon] = index }
    var sum = 0
    let start = clock()
    for _ in 0..<1000 {
        for beacon in beacons { sum &+= places[beacon] ?? 0 }
    }
    let elapsed = Double(clock() - start) / Double(CLOCKS_PER_SEC)
    print("yardstick, a dictionary look-up:".padded(-32) + " \(fixed(elapsed * 1e3, 1)) ns (sum \(sum))")
}

/// Measures the time of a sighting and the memory of a beacon, and prints both.
func measureCost() {
    print("\ncost")
    measureYardstick()
    for (beacons, regionCount) in [(1, 1), (100, 1), (1000, 1), (1000, 2000), (10_000, 1)] {
        var engine = PresenceEngine()
        var regions = [
            MonitoredRegion(key: benchmarkKey, pattern: BeaconPattern(uuid: benchmarkBeacon.uuid), leaveRule: .auto)
        ]
        for number in 1..<regionCount {
            let pattern = BeaconPattern(uuid: BeaconUUID(high: UInt64(number), low: 0), major: 1, minor: 1)
            regions.append(
                MonitoredRegion(key: RegionKey(tracker: 0, rid: "\(number)"), pattern: pattern, leaveRule: .auto))
        }
        _ = engine.handle(.regions(regions), at: .zero)
        _ = engine.handle(.listening(Receiver(index: 0), true), at: .zero)
        var random = SplitMix(seed: 1)
        let sightings = (0..<max(beacons, 64)).map { number in
            Sighting(
                beacon: BeaconID(uuid: benchmarkBeacon.uuid, major: 1, minor: UInt16(number % beacons)),
                measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: Int8(-60 - number % 7)),
                receiver: Receiver(index: 0))
        }
        let heard = (0..<4096).map { _ in random.unit() < 0.88 }
        var now: Int64 = 0
        // Each beacon advertises once a second, 88 % are heard; time enough to learn the rhythm first.
        let step = 1_000_000_000 / Int64(beacons)
        var best = Double.infinity
        var count = 0
        for _ in 0..<6 {
            count = 0
            let start = clock()
            for turn in 0..<(2_000_000 / beacons) {
                for number in 0..<beacons {
                    now += step
                    guard heard[(turn &* 31 &+ number &* 17) & 4095] else { continue }
                    count += 1
                    _ = engine.handle(
                        .sighting(sightings[beacons == 1 ? turn & 63 : number]), at: MonotonicInstant(nanoseconds: now))
                }
            }
            // Processor time: what else runs on the machine does not count.
            let elapsed = Double(clock() - start) / Double(CLOCKS_PER_SEC)
            best = min(best, elapsed * 1e9 / Double(count))
        }
        print(
            "\(beacons) beacons, \(regionCount) regions:".padded(-32)
                + "\(fixed(best, 1)) ns per sighting, deadlines included")
    }
    print("memory: \(PresenceEngine.bytesPerBeacon) bytes per beacon in one region at one receiver, and 6–11 of index")
}
