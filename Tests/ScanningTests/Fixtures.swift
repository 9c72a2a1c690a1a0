import Base
import Beacon
import Glibc
import Scanning

/// The path of a file under Tests/Fixtures.
func fixture(_ name: String, from file: String = #filePath) -> String {
    let tests = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    return "\(tests)/Fixtures/\(name)"
}

/// A file with these bytes that goes when its owner does.
final class TemporaryFile {
    let path: String

    init(_ bytes: [UInt8] = []) {
        var template = Array("/tmp/ibeacon-gateway-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }

    deinit { unlink(path) }
}

/// All that a capture holds.
struct Played {
    var datalink: BtsnoopFormat.Datalink?
    /// Milliseconds since the first record, one for each HCI event.
    var milliseconds: [Int64] = []
    var wallMicroseconds: [Int64] = []
    var receivers: [UInt16] = []
    var events: [[UInt8]] = []
    var minors: [UInt16] = []
    var rssi: [Int8?] = []
    var malformed: [MalformedKind] = []
    var records: UInt64 = 0
    var lost: UInt64 = 0
    var backwardSteps: UInt64 = 0
    var error: CaptureError?
}

/// Reads a capture to its end.
func play(_ path: String) -> Played {
    var played = Played()
    do throws(CaptureError) {
        var reader = try CaptureReader(path: path)
        played.datalink = reader.datalink
        var parser = AdvertisingReportParser()
        var inFrames = MalformedCounters()
        while true {
            do throws(CaptureError) {
                guard
                    try reader.next({ record, event in
                        played.milliseconds.append(record.instant.nanoseconds / 1_000_000)
                        played.wallMicroseconds.append(record.wallMicroseconds)
                        played.receivers.append(record.receiver.index)
                        played.events.append((0..<event.count).map { event[$0] })
                        parser.parse(event: event) { report, data in
                            played.rssi.append(report.rssi?.dBm)
                            guard let beacon = IBeacon(advertisingData: data, malformed: &inFrames) else { return }
                            played.minors.append(beacon.id.minor)
                        }
                    })
                else { break }
            } catch {
                played.error = error
                break
            }
        }
        played.records = reader.records
        played.lost = reader.lost
        played.backwardSteps = reader.timeline.backwardSteps
        for kind in MalformedKind.allCases {
            for _ in 0..<parser.malformed[kind] + inFrames[kind] { played.malformed.append(kind) }
        }
    } catch {
        played.error = error
    }
    return played
}
