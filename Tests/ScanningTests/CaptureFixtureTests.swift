import Beacon
import Testing

@testable import Scanning

/// One hand-made capture for every branch; `Tests/Fixtures/make-captures` says how each is made.
@Suite("Every branch of the reader and the parser has a capture")
struct CaptureFixtureTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let minors: [UInt16]
        let malformed: [MalformedKind]
        let reason: CaptureError.Reason?

        init(
            _ name: String, minors: [UInt16] = [], malformed: [MalformedKind] = [], reason: CaptureError.Reason? = nil
        ) {
            (testDescription, self.minors, self.malformed, self.reason) = (name, minors, malformed, reason)
        }
    }

    static let cases = [
        Case("hci", minors: [7, 7]),
        Case("h4", minors: [7, 7]),
        Case("monitor", minors: [7, 7]),
        Case("no-flags", minors: [7]),
        Case("two-reports-in-one-event", minors: [1, 2]),
        Case("extended", minors: [7]),
        Case("extended-two-reports", minors: [1, 2]),
        Case("extended-fragments", minors: [2]),
        Case("legacy-between-fragments", minors: [3]),
        Case(
            "battery-formats",
            minors: [1] + (101...111).flatMap { (minor: UInt16) in [minor, minor, minor] }),
        Case("rssi-not-available", minors: [7, 7]),
        Case("zero-structure-ends"),
        Case("other-kinds", minors: [7]),
        Case("other-kinds-h4", minors: [7]),
        Case("other-kinds-monitor", minors: [7]),
        Case("other-events", minors: [7]),
        Case("other-makers"),
        Case("truncated-event", minors: [7], malformed: [.truncatedEvent, .truncatedEvent]),
        Case("no-reports", minors: [7], malformed: [.noReports]),
        Case("truncated-report", minors: [7], malformed: [.truncatedReport, .truncatedReport]),
        Case("oversized-data", minors: [7], malformed: [.oversizedData]),
        Case("trailing-bytes", minors: [7, 7], malformed: [.trailingBytes, .trailingBytes]),
        Case("truncated-structure", minors: [7], malformed: [.truncatedStructure]),
        Case("inexact-beacon", minors: [7], malformed: [.inexactBeacon, .inexactBeacon]),
        Case("time-disorder", minors: [7, 7, 7]),
        Case("clock-set-back", minors: [7, 7, 7, 7]),
        Case("drops", minors: [7, 7, 7]),
        Case("empty"),
        Case("truncated-header", reason: .truncatedHeader),
        Case("truncated-record-header", minors: [7], reason: .truncatedRecord(missing: 14)),
        Case("truncated-record", minors: [7], reason: .truncatedRecord(missing: 5)),
        Case("impossible-length", minors: [7], reason: .impossibleLength(0x7fff_ffff)),
        Case("contradictory-length", minors: [7], reason: .contradictoryLength(included: 44, original: 3)),
        Case("impossible-time", minors: [7], reason: .impossibleTime),
        Case("wrong-version", reason: .unsupportedVersion(2)),
        Case("wrong-datalink", reason: .unsupportedDatalink(1003)),
        Case("not-btsnoop", reason: .foreign(.text)),
    ]

    @Test("it is read as expected", arguments: cases)
    func table(_ this: Case) {
        let played = play(fixture("captures/\(this.testDescription).btsnoop"))
        #expect(played.minors == this.minors)
        #expect(played.malformed == this.malformed)
        #expect(played.error?.reason == this.reason)
    }

    /// `make-captures` names the origin of each frame.
    @Test func `The battery of each published frame is that of the iBeacon from the same address`() throws {
        var reader = try CaptureReader(path: fixture("captures/battery-formats.btsnoop"))
        var parser = AdvertisingReportParser()
        var decoder = BeaconDecoder()
        var told: [String] = []
        while try reader.next({ record, event in
            parser.parse(event: event) { report, data in
                _ = decoder.sighting(in: data, of: report, by: record.receiver, at: record.instant) { telemetry in
                    let degrees = telemetry.temperature.map { " \((Double($0) * 100).rounded() / 100)" } ?? ""
                    told.append("\(telemetry.beacon.minor): \(telemetry.battery)\(degrees)")
                }
            }
        }) {}
        #expect(
            told == [
                "1: 78 %", "101: 99 % 21.5", "102: 100 %", "103: 91 %", "104: 100 % (3.09 V) 24.0",
                "105: 100 % (3.19 V) -0.25",
                "106: 100 %", "107: 100 %", "108: 33 %", "109: 100 % -19.37", "110: 100 % 34.38", "111: 97 %",
            ])
        #expect(decoder.malformed.total == 0)
    }

    @Test("all three datalinks give the same bytes")
    func datalinks() {
        let hci = play(fixture("captures/hci.btsnoop"))
        let uart = play(fixture("captures/h4.btsnoop"))
        let monitor = play(fixture("captures/monitor.btsnoop"))
        #expect([hci.datalink, uart.datalink, monitor.datalink] == [.hci, .uart, .monitor])
        #expect(hci.events == uart.events)
        #expect(hci.events == monitor.events)
        #expect(hci.receivers == [0, 0])
        #expect(monitor.receivers == [0, 1])
    }

    @Test("records a moment out of order wait until the stamps catch up")
    func disorder() {
        let played = play(fixture("captures/time-disorder.btsnoop"))
        #expect(played.milliseconds == [0, 0, 1000])
        #expect(played.backwardSteps == 1)
    }

    @Test("time goes on from where it stood when the recorder's clock was set back")
    func clockSetBack() {
        let played = play(fixture("captures/clock-set-back.btsnoop"))
        #expect(played.milliseconds == [0, 5000, 5000, 6000])
        #expect(played.backwardSteps == 1)
    }

    @Test("the recorder's drops are passed on, also when its counter began again")
    func drops() {
        #expect(play(fixture("captures/drops.btsnoop")).lost == 2 + 3 + 1)
    }

    @Test("an RSSI that is not available still leaves a sighting")
    func strength() {
        #expect(play(fixture("captures/rssi-not-available.btsnoop")).rssi == [nil, nil])
    }
}
