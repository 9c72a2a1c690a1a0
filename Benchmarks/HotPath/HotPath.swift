import Beacon
import Gateway
import Glibc
import OwnTracks
import Regions
import Scanning

/// Measures what is done for every report, stage by stage: HotPath CAPTURE REGIONS [PASSES].
///
/// Each stage contains the ones above it. The best of the passes counts: everything else is the
/// machine's own business.
@main
struct HotPath {
    enum Stage: String, CaseIterable {
        case read, parse, recognise, match, log
    }

    static func main() throws {
        guard CommandLine.arguments.count >= 3 else {
            print("usage: HotPath CAPTURE REGIONS [PASSES]")
            exit(64)
        }
        let capture = CommandLine.arguments[1]
        let passes = CommandLine.arguments.count > 3 ? Int(CommandLine.arguments[3]) ?? 5 : 5
        let patterns = try patterns(in: CommandLine.arguments[2])
        let index = RegionIndex(patterns)
        print("\(patterns.count) regions, best of \(passes) passes")
        for stage in Stage.allCases {
            var best = Duration.seconds(3600)
            var counts = (reports: UInt64(0), beacons: 0, matches: 0)
            for _ in 0..<passes {
                let start = ContinuousClock.now
                counts = try run(stage, capture, index)
                best = min(best, ContinuousClock.now - start)
            }
            let nanoseconds = best.nanoseconds / Int64(max(1, counts.reports))
            let rate = Int64(counts.reports) * 1_000_000_000 / max(1, best.nanoseconds)
            print(
                "\(stage.rawValue): \(nanoseconds) ns each, \(rate) a second;",
                "\(counts.reports) reports, \(counts.beacons) beacons, \(counts.matches) matches")
        }
    }

    static func run(
        _ stage: Stage, _ capture: String, _ index: RegionIndex
    ) throws -> (reports: UInt64, beacons: Int, matches: Int) {
        var reader = try CaptureReader(path: capture)
        var parser = AdvertisingReportParser()
        var malformed = MalformedCounters()
        var (beacons, matches) = (0, 0)
        var log = BeaconLog()
        while let record = try reader.advance() {
            guard stage != .read else { continue }
            reader.withEvent { event in
                parser.parse(event: event) { report, data in
                    guard stage != .parse else { return }
                    guard let beacon = IBeacon(advertisingData: data, malformed: &malformed) else { return }
                    beacons += 1
                    guard stage != .recognise else { return }
                    index.forEachMatch(of: beacon.id) { _ in matches += 1 }
                    guard stage != .match else { return }
                    let sighting = Sighting(
                        beacon: beacon.id, measuredPower: beacon.measuredPower, rssi: report.rssi,
                        receiver: record.receiver)
                    log.hear(sighting, at: record.instant)
                }
            }
        }
        return (stage == .read ? reader.records : parser.reports, beacons, matches)
    }

    static func patterns(in path: String) throws -> [BeaconPattern] {
        var bytes: [UInt8] = []
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        let reading = try WaypointsReading(JSONValue(parsing: bytes))
        return reading.changes.compactMap { change in
            guard case .set(let region, _) = change, case .beacon(let pattern) = region.kind else { return nil }
            return pattern
        }
    }
}
