import Base
import Beacon
import Gateway
import Glibc
import JSON
import OwnTracks
import Regions
import Status

extension Parts {
    /// One list of 49,500 regions that all have one UUID, and a beacon of it: the longest turn of each kind.
    static func measureWildcards() throws {
        let count = 49_500
        let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
        // With a rid each, the list would have more values than JSON of one command may have.
        let waypoints = (0..<count).map {
            #"{"_type":"waypoint","desc":"R\#($0):\#(uuid)","tst":\#($0)}"#
        }
        let list = "{\"_type\":\"waypoints\",\"waypoints\":[\(waypoints.joined(separator: ","))]}"
        let command = try Command(
            parsing: Array("{\"_type\":\"cmd\",\"action\":\"setWaypoints\",\"waypoints\":\(list)}".utf8))
        guard case .setWaypoints(let regions) = command, let identifier = BeaconUUID(uuid) else { exit(70) }
        var gateway = try newGateway()
        func report(_ what: String, _ times: Int = 1, _ body: () throws -> Void) rethrows {
            say("49,500 regions of one UUID: \(what)", try best(of: times, body) * 1e3, "ms")
        }
        report("the command") { set(regions, in: &gateway) }
        var now = MonotonicInstant(nanoseconds: 60_000_000_000)
        var longest = 0.0
        func settle() {
            while let due = gateway.nextDeadline, due.nanoseconds < now.nanoseconds + 5_000_000_000 {
                now = max(now, due)
                longest = max(longest, best(of: 1) { _ = gateway.handle(.tick, at: now) })
            }
        }
        settle()
        let sighting = Sighting(
            beacon: BeaconID(uuid: identifier, major: 1, minor: 7), measuredPower: MeasuredPower(dBm: -59),
            rssi: RSSI(reported: -60), receiver: Receiver(index: 0))
        report("the first sighting") { _ = gateway.handle(.sighting(sighting), at: now) }
        report("a later one", 5) { _ = gateway.handle(.sighting(sighting), at: now) }
        for _ in 0..<20 {
            settle()
            _ = gateway.handle(.sighting(sighting), at: now)
        }
        say("49,500 regions of one UUID: the longest tick", longest * 1e3, "ms")
        let state = StatusSnapshot.BeaconState(
            id: sighting.beacon, measuredPower: sighting.measuredPower, rssi: sighting.rssi, lastHeard: now)
        let states = [StatusSnapshot.BeaconState](repeating: state, count: BeaconLog.capacity)
        var hearings: [BeaconPattern: RegionHearing] = [:]
        report("hearings of 512 beacons", 3) { hearings = GatewayInsight(of: gateway).hearings(of: states, at: now) }
        var bytes = 0
        report("trackers of a snapshot", 3) {
            var snapshot = StatusSnapshot(
                now: now, wallClock: gateway.wallClock, version: "", device: "hall", startedAt: .zero)
            snapshot.trackers = GatewayInsight(of: gateway).trackerStates(hearings: hearings, at: now)
            bytes += snapshot.json.bytes.count
        }
        report("an explanation", 3) { bytes += GatewayInsight(of: gateway).explanation(ofRegion: "R7", at: now).count }
        guard let battery = BatteryReading(level: 50) else { exit(70) }
        report("a battery", 3) {
            let telemetry = BeaconTelemetry(beacon: sighting.beacon, battery: battery)
            bytes += gateway.handle(.telemetry(telemetry), at: now).count
        }
        report("a checkpoint", 3) { bytes += gateway.handle(.checkpoint, at: now).count }
        for (name, query) in [
            ("status", Command.status), ("waypoints", .waypoints), ("reportLocation", .reportLocation),
        ] {
            now = now.advanced(by: .seconds(10))
            let received = ReceivedCommand(
                tracker: 0, command: .success(query), isRetained: false, wasEncrypted: false, digest: nil)
            _ = gateway.handle(.command(received), at: now)
            report(name) { bytes += gateway.handle(.tick, at: now).count }
        }
        say(
            "49,500 regions of one UUID: the same command again",
            best(of: 1) {
                set(regions, in: &gateway, at: now.advanced(by: .seconds(60)))
            } * 1e3, "ms")
        guard bytes > 0 else { exit(70) }
    }
}
