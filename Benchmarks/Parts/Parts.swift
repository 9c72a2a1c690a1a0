import Base
import Beacon
import Configuration
import Encryption
import Gateway
import Glibc
import JSON
import OwnTracks
import Scanning
import Status

/// Measures what is done beside the path of a report: Parts FOLDER, a folder of make-capture.
///
/// Prints one line for each figure: what, value, unit. Times are processor time, the best of several; the outbox's
/// are of the wall clock, as it waits for the disk.
@main
struct Parts {
    static func main() throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: Parts FOLDER")
            exit(64)
        }
        let folder = CommandLine.arguments[1]
        try measureService(folder)
        measureCrowd()
        try measureCommand()
        try measureWildcards()
        try measureText(folder)
        try measurePresenceState()
        try measureOutbox(folder)
    }

    static func say(_ name: String, _ value: Double, _ unit: String) {
        print("\(name)\t\(value)\t\(unit)")
    }

    /// Seconds of processor time that the quickest of some calls takes.
    static func best(of count: Int, _ body: () throws -> Void) rethrows -> Double {
        var best = Double.infinity
        for _ in 0..<count {
            var start = timespec()
            var end = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
            try body()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
            best = min(best, Double(end.tv_sec - start.tv_sec) + Double(end.tv_nsec - start.tv_nsec) * 1e-9)
        }
        return best
    }

    static func newGateway() throws -> Gateway {
        let text = "{_type: \"configuration\", username: \"jane\", deviceId: \"hall\", port: 0}"
        let configuration = try Configuration(parsing: Array(text.utf8), hostName: "benchmark")
        var gateway = Gateway(
            configuration: configuration, wallClock: WallClock(epochOffset: 1_700_000_000_000_000_000, isKnown: true),
            explainsTransitions: true)
        _ = gateway.handle(.start(StoredState(configuration: configuration, regions: [])), at: .zero)
        _ = gateway.handle(.listening(Receiver(index: 0), true), at: .zero)
        return gateway
    }

    static func file(_ path: String) -> [UInt8] {
        var bytes: [UInt8] = []
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return bytes }
            bytes += chunk.prefix(count)
        }
    }

    /// Everything that the service does for a report: the capture is read, the gateway decides, the status page
    /// remembers.
    static func measureService(_ folder: String) throws {
        var gateway = try newGateway()
        let waypoints = try WaypointsReading(JSONValue(parsing: file(folder + "/regions.otrw")))
        set(waypoints, in: &gateway)
        var log = BeaconLog()
        var shift: Int64 = 0
        var reports: UInt64 = 0
        let seconds = try best(of: 8) {
            var reader = try CaptureReader(path: folder + "/mixed.btsnoop")
            var parser = AdvertisingReportParser()
            var malformed = MalformedCounters()
            var last = MonotonicInstant.zero
            while let record = try reader.advance() {
                last = record.instant
                let now = MonotonicInstant(nanoseconds: last.nanoseconds + shift)
                reader.withEvent { event in
                    parser.parse(event: event) { report, data in
                        guard let frame = IBeacon(advertisingData: data, malformed: &malformed) else { return }
                        let sighting = Sighting(
                            beacon: frame.id, measuredPower: frame.measuredPower, rssi: report.rssi,
                            receiver: record.receiver)
                        log.hear(sighting, at: now)
                        _ = gateway.handle(.sighting(sighting), at: now)
                    }
                }
            }
            reports = parser.reports
            shift += last.nanoseconds
        }
        say("all that the service does for a report, reading the capture too", seconds * 1e9 / Double(reports), "ns")
    }

    static func set(_ waypoints: WaypointsReading, in gateway: inout Gateway, at now: MonotonicInstant = .zero) {
        let command = ReceivedCommand(
            tracker: 0, command: .success(.setWaypoints(waypoints)), isRetained: false, wasEncrypted: false,
            digest: nil)
        _ = gateway.handle(.command(command), at: now)
        _ = gateway.handle(.tick, at: now)
    }

    static func measureCommand() throws {
        let waypoints = (0..<10_000).map { number in
            let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A9\(number % 90 + 10)"
            let description = "Room \(number):\(uuid):\(number / 100 + 1):\(number % 100 + 1)"
            return "{\"_type\":\"waypoint\",\"desc\":\"\(description)\",\"tst\":\(number),\"rid\":\"r\(number)\"}"
        }
        let list = "{\"_type\":\"waypoints\",\"waypoints\":[\(waypoints.joined(separator: ","))]}"
        let payload = Array("{\"_type\":\"cmd\",\"action\":\"setWaypoints\",\"waypoints\":\(list)}".utf8)
        var command: Command?
        let reading = try best(of: 5) { command = try Command(parsing: payload) }
        guard case .setWaypoints(let regions) = command else { exit(70) }
        say("setWaypoints of 10,000: reading, \(payload.count >> 10) KiB", reading * 1e3, "ms")
        let merging = try best(of: 5) {
            var gateway = try newGateway()
            set(regions, in: &gateway)
        }
        say("setWaypoints of 10,000: merging into none", merging * 1e3, "ms")
        var gateway = try newGateway()
        set(regions, in: &gateway)
        var now = MonotonicInstant.zero
        let repeated = best(of: 5) {
            // Commands of this size are seconds apart, or they would wait for their turn.
            now = now.advanced(by: .seconds(10))
            set(regions, in: &gateway, at: now)
        }
        say("setWaypoints of 10,000: the same again", repeated * 1e3, "ms")
    }

    /// JSON and encryption.
    static func measureText(_ folder: String) throws {
        let bytes = file(folder + "/regions.otrw")
        let parsing = try best(of: 5) { _ = try JSONValue(parsing: bytes) }
        say("JSON: reading 1,000 waypoints", Double(bytes.count) / parsing / 1e6, "MB/s")
        let transition = JSONValue.object([
            "_type": "transition", "t": "b", "event": "enter", "desc": "Kitchen", "tid": "JH",
            "lat": .degrees(48.1), "lon": .degrees(2.2), "acc": .integer(10), "tst": .integer(1_700_000_000),
            "wtst": .integer(1_600_000_000), "rid": "3fa0c2",
        ])
        var total = 0
        let writing = best(of: 20) { for _ in 0..<100 { total += transition.bytes.count } }
        say("JSON: writing a transition", writing * 1e4, "µs")
        try measureEncryption(of: transition.bytes)
    }

    private static func measureEncryption(of plain: [UInt8]) throws {
        guard let cipher = PayloadCipher(key: Secret("a secret of some length")) else { exit(70) }
        var total = 0
        var sealed = cipher.encrypt(plain)
        let sealing = best(of: 20) { for _ in 0..<100 { sealed = cipher.encrypt(plain) } }
        say("encryption: sealing a transition", sealing * 1e4, "µs")
        let opening = try best(of: 20) { for _ in 0..<100 { total += try cipher.decrypt(sealed).count } }
        say("encryption: opening it", opening * 1e4, "µs")
        // What a gateway of a site with a key publishes in a second with 50 tags.
        let reading =
            #"{"id":"CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7","n":3,"rssi":-71,"max":-68,"power":-59,"age":120}"#
        let heard = Array(
            (#"{"v":1,"boot":"b","seq":7,"at":123456,"listening":1000,"reports":41,"beacons":["#
                + Array(repeating: reading, count: 50).joined(separator: ",") + "]}").utf8)
        var payload = cipher.sealed(heard)
        let sealingPayload = best(of: 20) { for _ in 0..<100 { payload = cipher.sealed(heard) } }
        say("encryption: sealing 50 readings", sealingPayload * 1e4, "µs")
        let openingPayload = try best(of: 20) {
            for _ in 0..<100 { total += try cipher.opened(payload).plaintext.count }
        }
        say("encryption: opening them", openingPayload * 1e4, "µs")
    }
}
