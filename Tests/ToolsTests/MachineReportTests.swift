import Base
import JSON
import KernelScanning
import Status
import TestSupport
import Testing

@testable import Tools

private func at(_ seconds: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
}

@Suite struct ServiceMeasurementTests {
    /// A status of a service with one adapter.
    private static func status(
        uptime: Int64, reports: Int64, resets: Int64 = 0, processor: Double = 1, memory: Int64 = 20 << 20,
        listening: Bool = true, heardAgo: Double = 0.1
    ) -> StatusSnapshot {
        StatusSnapshot(reading: [
            "version": "1.2.3", "uptime": .integer(uptime), "beaconCount": 2,
            "scanner": [
                "name": "mgmt",
                "adapters": [
                    [
                        "name": "hci0", "listening": .bool(listening), "reports": .integer(reports), "malformed": 3,
                        "lost": .integer(reports / 100), "restarts": 1, "resets": .integer(resets),
                        "duty": .number(0.25),
                        "heardAgo": .number(heardAgo),
                    ]
                ],
            ],
            "beacons": [
                [
                    "uuid": "FDA50693-A4E2-4FB1-AFCF-C6EB07647825", "major": 1, "minor": 2, "heardAgo": 1, "rssi": -60,
                    "interval": .number(0.52),
                ],
                [
                    "uuid": "FDA50693-A4E2-4FB1-AFCF-C6EB07647825", "major": 1, "minor": 3, "heardAgo": 1,
                    "rssi": .null, "interval": .null,
                ],
            ],
            "process": [
                "processorSeconds": .number(processor), "residentBytes": .integer(memory),
                "startSeconds": .number(0.35),
            ],
            "counters": ["sightings": .integer(reports / 2)], "store": ["writes": 10],
        ])
    }

    private static func report(_ measurement: ServiceMeasurement) throws -> JSONValue {
        try JSONValue(parsing: Array(measurement.report.text.utf8))
    }

    @Test func `Rates are increases over the time between the first status and the last`() throws {
        var measurement = ServiceMeasurement(at: at(0))
        measurement.add(Self.status(uptime: 100, reports: 1000, processor: 1), at: at(0))
        measurement.add(
            Self.status(uptime: 110, reports: 1200, resets: 1, processor: 1.1, memory: 30 << 20), at: at(10))
        measurement.add(Self.status(uptime: 120, reports: 1600, resets: 1, processor: 1.2), at: at(20))
        let report = try Self.report(measurement)
        let adapter = try #require(report["adapters"]?.array?.first)
        #expect(adapter["reportsPerSecond"] == 30)
        #expect(adapter["lost"] == 6)
        #expect(adapter["resets"] == 1)
        #expect(adapter["restartsOfTheScan"] == 0, "those before the measurement do not count")
        #expect(adapter["duty"] == .number(0.25))
        #expect(report["iBeaconsPerSecond"] == 15)
        #expect(report["processorShare"] == .number(0.01))
        #expect(report["memoryMiB"] == 30)
        #expect(report["startSeconds"] == .number(0.35))
        #expect(report["measuredSeconds"] == 20)
        #expect(report["scanner"] == "mgmt")
    }

    @Test func `Silences and times without listening are gaps`() throws {
        var measurement = ServiceMeasurement(at: at(0))
        measurement.add(Self.status(uptime: 0, reports: 0), at: at(0))
        measurement.add(Self.status(uptime: 5, reports: 1, heardAgo: 4.5), at: at(5))
        measurement.add(Self.status(uptime: 10, reports: 1, listening: false, heardAgo: 2), at: at(10))
        measurement.add(nil, at: at(15))
        measurement.add(Self.status(uptime: 20, reports: 1), at: at(20))
        let report = try Self.report(measurement)
        let adapter = try #require(report["adapters"]?.array?.first)
        #expect(adapter["longestSilenceSeconds"] == .number(4.5))
        #expect(adapter["listeningShare"] == .number(0.75))
        #expect(report["statusesMissed"] == 1)
    }

    @Test func `A service that was started again is counted, and its counters begin at zero`() throws {
        var measurement = ServiceMeasurement(at: at(0))
        measurement.add(Self.status(uptime: 100, reports: 1000), at: at(0))
        measurement.add(Self.status(uptime: 3, reports: 50), at: at(10))
        measurement.add(Self.status(uptime: 13, reports: 150), at: at(20))
        let report = try Self.report(measurement)
        #expect(report["restartsOfTheService"] == 1)
        #expect(report["adapters"]?.array?.first?["reportsPerSecond"] == .number(7.5))
    }

    @Test func `Of beacons only their rhythm and strength are told`() throws {
        var measurement = ServiceMeasurement(at: at(0))
        measurement.add(Self.status(uptime: 1, reports: 1), at: at(0))
        #expect(try Self.report(measurement)["intervals"] == [["seconds": .number(0.52), "dBm": -60]])
        #expect(!measurement.report.text.contains("FDA5"))
    }

    @Test func `A recording is not named by its file`() throws {
        var measurement = ServiceMeasurement(at: at(0))
        let status: JSONValue = ["scanner": ["name": "capture", "adapters": [["name": "jane.btsnoop"]]]]
        measurement.add(StatusSnapshot(reading: status), at: at(0))
        #expect(try Self.report(measurement)["adapters"]?.array?.first?["name"] == "recording")
        #expect(!measurement.report.text.contains("jane"))
    }

    @Test(
        arguments: [nil, [:], ["scanner": ["name": "mgmt", "adapters": [["name": "hci0"]]], "process": .null]]
            as [JSONValue?])
    func `Whatever the service says, every field is filled or says why it is not`(status: JSONValue?) throws {
        var measurement = ServiceMeasurement(at: at(0))
        measurement.add(status.map(StatusSnapshot.init(reading:)), at: at(0))
        checkFields(try Self.report(measurement), "service")
    }
}

/// No field is null or empty, and a field without a value says why.
private func checkFields(_ value: JSONValue, _ place: String) {
    switch value {
    case .null, .string(""): Issue.record("\(place) is empty")
    case .object(let members):
        #expect(!members.isEmpty, "\(place)")
        for (name, member) in members { checkFields(member, "\(place).\(name)") }
    case .array(let elements):
        for (index, element) in elements.enumerated() { checkFields(element, "\(place)[\(index)]") }
    default: break
    }
}

@Suite struct MachineReportTests {
    @Test(
        arguments: [
            ("Raspberry Pi 4 Model B Rev 1.4", true), ("6.12.47+rpt-rpi-v8", true), ("6.1.0-26-amd64", true),
            ("5.66", true), ("AA:BB:CC:DD:EE:FF", false), ("board aabbccddeeff", false),
            ("fda50693-a4e2-4fb1-afcf-c6eb07647825", false), ("192.168.1.20", false), ("at 10.0.0.1:80", false),
        ])
    func `What looks like an address or an identity does not come into the report`(text: String, isShown: Bool) {
        let field = MachineReport.text(text, otherwise: "none").text
        #expect(field.contains(text) == isShown)
        #expect(field.contains("unknown") != isShown)
    }

    @Test func `What is not printable is left out, and an empty text says why`() {
        #expect(MachineReport.text("Pi\u{1b}[31m\n5", otherwise: "none").text == "\"Pi[31m5\"\n")
        #expect(MachineReport.text("", otherwise: "there is none").text == "{\"unknown\":\"there is none\"}\n")
        #expect(MachineReport.number(.nan, otherwise: "not yet").text.contains("not yet"))
    }

    @Test func `Board, kernel and system of this machine are filled or say why not`() throws {
        let machine = try JSONValue(parsing: Array(MachineFacts.machine().text.utf8))
        checkFields(machine, "machine")
        #expect(machine["kernel"]?.string?.isEmpty == false)
        #expect((machine["memoryMiB"]?.asNumber ?? 0) > 64)
        #expect(
            Set(machine.object?.keys ?? [:].keys) == [
                "board", "kernel", "architecture", "system", "processors", "memoryMiB",
            ])
    }

    @Test(
        arguments: [
            ("Pi 4", "UART", true), ("Pi 5", "UART", true), ("USB dongle on a Pi 4", "USB", false),
            ("virtual adapter", "virtual", false),
        ])
    func `A controller is told by its features, and not by its address`(
        board: String, attachment: String, isShared: Bool
    ) throws {
        let directory = try TemporaryDirectory()
        let tree = try #require(Board.all.first { $0.name == board })
        let facts = ControllerFacts(
            index: 0, version: 9, manufacturer: 305, supportedSettings: ["powered", "low energy"], isPowered: true,
            hasExtendedScanning: nil, lowEnergyFeatures: 0x0000_0000_0000_01ff, monitors: nil)
        let text = MachineFacts.controller(facts, sysfs: try tree.make(in: directory)).text
        let report = try JSONValue(parsing: Array(text.utf8))
        checkFields(report, "controller")
        #expect(report["attachedBy"] == .string(attachment))
        #expect(report["sharesAntennaWithActiveWiFi"] == .bool(isShared))
        #expect(report["lowEnergyFeatures"] == [0, 1, 2, 3, 4, 5, 6, 7, 8])
        #expect(report["extendedScanning"]?["unknown"] != nil)
        #expect(report["monitorsSet"]?["unknown"] != nil)
    }
}
