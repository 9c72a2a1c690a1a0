import Beacon
import Gateway
import OwnTracks

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

    /// What goes to the disk with each transition: who is where, as bytes.
    static func measureKeeping() throws {
        for count in [100, 1_000, 16_384] {
            var gateway = try newGateway()
            let text = """
                {_type: "waypoints", waypoints: [{_type: "waypoint", desc: "All:00000000000000010000000000000002",
                tst: 1, rid: "all"}]}
                """
            set(try WaypointsReading(JSONValue(parsing: Array(text.utf8), dialect: .json5)), in: &gateway)
            var now: Int64 = 0
            for turn in 0..<20 {
                now = Int64(turn) * 1_000_000_000
                for number in 0..<count {
                    _ = gateway.handle(.sighting(sighting(number)), at: MonotonicInstant(nanoseconds: now))
                }
            }
            var bytes = 0
            let seconds = best(of: 8) {
                bytes = gateway.keptPresenceBytes(at: MonotonicInstant(nanoseconds: now)).count
            }
            say("presence as bytes: \(count) beacons inside", seconds * 1e6, "us")
            say("the same: size", Double(bytes) / 1e3, "kB")
        }
    }
}
