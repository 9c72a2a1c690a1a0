import Beacon
import Scanning
import TestSupport
import Testing

/// The batteries of tags, from a recording through the whole program.
@Suite struct BatteryRunTests {
    /// Writes a recording of one tag: an iBeacon each 100 ms, and each second a packet of telemetry from its address.
    ///
    /// - Parameter minor: The minor at each second.
    private func record(
        _ seconds: Int, telemetry: [UInt8] = [], to path: String, minor: (Int) -> UInt16 = { _ in 7 }
    ) throws {
        var packets: [(milliseconds: Int, data: [UInt8])] = []
        for second in 0..<seconds {
            for tenth in 0..<10 {
                packets.append((second * 1_000 + tenth * 100, BeaconScript.data(minor: minor(second))))
                if tenth == 5, !telemetry.isEmpty { packets.append((second * 1_000 + 550, telemetry)) }
            }
        }
        let address = DeviceAddress(value: 0xc0ff_ee00_0001, isRandom: true)
        var writer = try CaptureWriter(path: path)
        for (milliseconds, data) in packets {
            try writer.write(
                AdvertisingReport(address: address, rssi: RSSI(reported: -60)), data: data.span,
                wallMicroseconds: 1_700_000_000_000_000 + Int64(milliseconds) * 1_000, receiver: Receiver(index: 0))
        }
        try writer.close()
    }

    /// Eddystone-TLM with 2440 mV, which is 6 %, and 21 °C.
    private static let nearlyEmpty: [UInt8] = [
        0x11, 0x16, 0xaa, 0xfe, 0x20, 0x00, 0x09, 0x88, 0x15, 0x00, 0x00, 0x00, 0x00, 0x45, 0x00, 0x00, 0x02, 0x58,
    ]

    private static let mask = #"battery: {uuid: "\#(BeaconScript.uuid)", minorMask: "0x00FF"}"#

    @Test func `scan shows the battery that a tag sends beside its iBeacon`() throws {
        let gateway = try GatewayProcess("", port: 0)
        let capture = gateway.directory.file("tag.btsnoop")
        try record(3, telemetry: Self.nearlyEmpty, to: capture)
        try gateway.configure(#"scanner: {capture: "\#(capture)", speed: 10}"#, port: 0)
        let json = try gateway.ask("scan", "--json")
        #expect(json.contains(#""battery":6,"battery_mV":2440"#) && json.contains(#""temperature":21"#), "\(json)")
        let table = try gateway.ask("scan")
        #expect(table.contains("BATTERY") && table.contains("6 % (2.44 V)"), "\(table)")
    }

    @Test func `A low battery is logged, is a finding, and is shown with its region`() throws {
        let page = try LoopbackPort.free()
        let gateway = try GatewayProcess("", port: 0)
        let capture = gateway.directory.file("tag.btsnoop")
        try record(10, telemetry: Self.nearlyEmpty, to: capture)
        try gateway.configure(
            #"scanner: {capture: "\#(capture)"}, waypoints: [\#(BeaconScript.waypoint("Keys", minor: 7))]"#, port: 0,
            http: "{listen: '127.0.0.1:\(page)'}")
        try gateway.start()
        #expect(gateway.says("<4>the battery of Keys is low: 6 % (2.44 V); replace it"), "\(gateway.log)")
        let text = try gateway.asked("status", until: "6 % low", "warning: low batteries")
        #expect(text.contains("6 % low") && text.contains("warning: low batteries: Keys 6 % (2.44 V)"), "\(text)")
        let json = try gateway.asked("--json", "status", until: #""low":true"#)
        #expect(json.contains(#""low":true,"millivolts":2440,"percent":6"#), "\(json)")
        let low = "ibeacon_gateway_low_batteries 1\n"
        let metrics = try eventual({ try run("curl", ["-s", "http://127.0.0.1:\(page)/metrics"]) }) { $0.contains(low) }
        #expect(metrics.contains(low), "\(metrics)")
        let ratio = metrics.split(separator: "\n").first { $0.hasPrefix("ibeacon_gateway_region_battery_ratio{") }
        #expect(ratio?.hasSuffix(" 0.06") == true, "\(ratio ?? "none")")
        #expect(gateway.stop() == 0)
    }

    @Test func `A tag whose battery is in its minor stays the same tag`() throws {
        let gateway = try GatewayProcess("", port: 0)
        let capture = gateway.directory.file("tag.btsnoop")
        // From 100 % to 41 % within a minute.
        try record(60, to: capture) { 0x0100 + UInt16(100 - $0) }
        let region = BeaconScript.waypoint("Keys", minor: 0x0100)
        func replay(_ more: String) throws -> [Substring] {
            try gateway.configure("leaveAfter: 5, waypoints: [\(region)]\(more)", port: 0)
            let lines = try gateway.ask("replay", capture, "--tail", "60").split(separator: "\n")
            return lines.filter { $0.contains(#""_type":"transition""#) }
        }
        #expect(try replay(", \(Self.mask)").map { $0.contains(#""event":"enter""#) } == [true, false])
        #expect(try replay("").isEmpty, "without the mask no beacon has this minor")
    }
}
