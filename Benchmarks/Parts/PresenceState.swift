import Base
import Beacon
import Gateway
import JSON
import OwnTracks

extension Parts {
    /// Who is where as bytes, which goes to the disk with every transition: all of the beacons are inside one region.
    static func measurePresenceState() throws {
        for beacons in [10, 1000, 16_000] {
            let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
            let waypoint = "{\"_type\":\"waypoint\",\"desc\":\"House:\(uuid)\",\"tst\":1,\"rid\":\"h\"}"
            var gateway = try newGateway()
            set(try WaypointsReading(JSONValue(parsing: Array(waypoint.utf8))), in: &gateway)
            guard let identifier = BeaconUUID(uuid) else { return }
            var now = MonotonicInstant.zero
            for _ in 0..<20 {
                now = now.advanced(by: .seconds(1))
                for number in 0..<beacons {
                    let beacon = BeaconID(uuid: identifier, major: 1, minor: UInt16(number))
                    let sighting = Sighting(
                        beacon: beacon, measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: -60),
                        receiver: Receiver(index: 0))
                    _ = gateway.handle(.sighting(sighting), at: now)
                }
            }
            var bytes = 0
            let seconds = best(of: 10) {
                guard case .presence(.whole(let whole))? = gateway.handle(.stopping, at: now).first else { return }
                bytes = whole.count
            }
            say("presence state of \(beacons) beacons inside, \(bytes) bytes", seconds * 1e3, "ms")
        }
    }
}
