import Base
import Beacon
import Status

extension Parts {
    private static func sighting(_ number: Int) -> Sighting {
        Sighting(
            beacon: BeaconID(
                uuid: BeaconUUID(high: 1, low: 2), major: UInt16(number >> 16),
                minor: UInt16(truncatingIfNeeded: number)),
            measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: -70), receiver: Receiver(index: 0))
    }

    /// What the status page remembers of a crowd that it cannot remember whole.
    static func measureCrowd() {
        for count in [500, 10_000] {
            let crowd = (0..<count).map(sighting)
            var log = BeaconLog()
            var now: Int64 = 0
            let seconds = best(of: 8) {
                for one in crowd {
                    now += 1_000_000
                    log.hear(one, at: MonotonicInstant(nanoseconds: now))
                }
            }
            say("status page: a sighting, \(count) beacons about", seconds * 1e9 / Double(count), "ns")
        }
    }
}
