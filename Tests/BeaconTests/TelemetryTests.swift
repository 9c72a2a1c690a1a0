import TestSupport
import Testing

@testable import Beacon

@Suite("A telemetry frame is read only if it is whole")
struct TelemetryTests {
    /// Service data with its AD length, type and UUID.
    static func serviceData(_ service: UInt16, _ body: [UInt8]) -> [UInt8] {
        packet([UInt8(body.count + 3), 0x16, UInt8(service & 255), UInt8(service >> 8)], body)
    }

    static func bytes(_ hexadecimal: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = hexadecimal.filter { $0 != " " }[...]
        while let byte = UInt8(rest.prefix(2), radix: 16), rest.count > 1 {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    struct Vector: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let data: [UInt8]
        let format: Telemetry.Format
        let battery: BatteryReading?
        let temperature: Float?

        init(
            _ origin: String, _ hexadecimal: String, _ format: Telemetry.Format, level: UInt8? = nil,
            millivolts: UInt16? = nil, temperature: Float? = nil
        ) {
            testDescription = origin
            data = TelemetryTests.bytes(hexadecimal)
            self.format = format
            battery = BatteryReading(level: level, millivolts: millivolts)
            self.temperature = temperature
        }
    }

    @Test(
        "the examples of the descriptions are read as the descriptions say",
        arguments: [
            Vector(
                "reelyactive/advlib-ble-services, test/unit/eddystone.test.js",
                "11 16 aafe 20000bb815000000004500000258", .eddystone, millivolts: 3000, temperature: 21),
            Vector(
                "Kontakt.io's parser, TestEddystoneTLM", "11 16 aafe 2000018005400000010000010000", .eddystone,
                millivolts: 384, temperature: 5.25),
            Vector(
                "forums.estimote.com, topic 11067, the longer of the two frames",
                "17 16 9afe 12130b412fb582477e01df89dd19c73259f85e41", .estimote, level: 65, millivolts: 6078,
                temperature: 22.25),
            Vector(
                "Kontakt.io's parser, TestParseKontaktPlain", "0f 16 6afe 0206010f6404616263646566", .kontakt,
                level: 100),
            Vector(
                "Minew, MiniBeaconPlus Configuration Instruction, 2.2",
                "020106 0303e1ff 13 16 e1ff a10864001302e4cdab504c5553303031", .minew, level: 100),
            Vector(
                "reelyactive/advlib-ble-services, test/unit/minew.test.js", "10 16 e1ff a10801aabbccddeeff504c5553",
                .minew, level: 1),
        ])
    func vector(_ this: Vector) throws {
        var malformed = MalformedCounters()
        let found = Telemetry(advertisingData: this.data.span, malformed: &malformed)
        let telemetry = try #require(found)
        #expect(telemetry.format == this.format)
        #expect(telemetry.battery == this.battery)
        #expect(telemetry.temperature == this.temperature)
        #expect(malformed.total == 0)
        #expect(IBeacon(advertisingData: this.data.span, malformed: &malformed) == nil)
    }

    @Test("an Eddystone-TLM frame has its counters big endian")
    func counters() throws {
        let body = Self.bytes("20000bb8f5800102030405060708")
        let found = EddystoneTLM(serviceData: body.span)
        let frame = try #require(found)
        #expect(frame.millivolts == 3000 && frame.temperature == -10 * 256 - 128)
        #expect(frame.advertisements == 0x0102_0304 && frame.uptime == 0x0506_0708)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let data: [UInt8]
        let level: UInt8?
        let isMalformed: Bool

        init(_ what: String, _ service: UInt16, _ body: String, level: UInt8? = nil, malformed: Bool = false) {
            testDescription = what
            data = TelemetryTests.serviceData(service, TelemetryTests.bytes(body))
            self.level = level
            isMalformed = malformed
        }
    }

    @Test(
        "what is not whole is counted, and what is something else is not",
        arguments: [
            Case("TLM, a byte short", 0xfeaa, "20000bb8150000000045000002", malformed: true),
            Case("TLM, a byte more", 0xfeaa, "20000bb81500000000450000025800", malformed: true),
            Case("TLM, the type alone", 0xfeaa, "20", malformed: true),
            Case("TLM, encrypted", 0xfeaa, "20010102030405060708090a0b0c01021112"),
            Case("TLM without a battery", 0xfeaa, "2000000015000000004500000258"),
            Case("Eddystone-UID", 0xfeaa, "00fc00112233445566778899aabbccddeeff0000"),
            Case("Eddystone-URL", 0xfeaa, "100367657470617265746f07"),
            Case("Estimote, subframe A of the same topic", 0xfe9a, "12130b412fb582477e00ff003e2650f000"),
            Case("Estimote, another frame", 0xfe9a, "10130b412fb582477e01df89dd19c73259f85e41"),
            Case("Estimote, a later version", 0xfe9a, "32130b412fb582477e01df89dd19c73259f85e41"),
            Case("Estimote, a byte short", 0xfe9a, "12130b412fb582477e01df89dd19c73259f85e", malformed: true),
            Case("Estimote, the identifier alone", 0xfe9a, "12130b412fb582477e", malformed: true),
            Case("Estimote, 101 %", 0xfe9a, "12130b412fb582477e01df89dd19c73259f85e65", malformed: true),
            Case("Estimote, not measured yet", 0xfe9a, "12130b412fb582477e01df89dd19c73259ffffff"),
            // 6078 mV by the curve of a coin cell.
            Case(
                "Estimote, version 0 has error flags there", 0xfe9a, "02130b412fb582477e01df89dd19c73259f85e03",
                level: 100),
            Case("Kontakt.io, shuffled", 0xfe6a, "0106010f6404616263646566"),
            Case("Kontakt.io, without a name", 0xfe6a, "0206010f6404", malformed: true),
            Case("Kontakt.io, without a battery", 0xfe6a, "0206010fff04616263646566"),
            Case("Kontakt.io, 101 %", 0xfe6a, "0206010f6504616263646566", malformed: true),
            Case("Minew, without a name", 0xffe1, "a10864001302e4cdab", level: 100),
            Case("Minew, the address cut", 0xffe1, "a10864001302e4cd", malformed: true),
            Case("Minew, 200 %", 0xffe1, "a108c8001302e4cdab504c5553303031", malformed: true),
            Case("Minew, another frame", 0xffe1, "a1016315803200aabbccddeeff"),
            Case("another service", 0xfd6f, "20000bb815000000004500000258"),
            Case("a service without data", 0xfeaa, ""),
        ])
    func table(_ this: Case) {
        var malformed = MalformedCounters()
        let telemetry = Telemetry(advertisingData: this.data.span, malformed: &malformed)
        #expect(telemetry?.battery.percent == this.level)
        #expect(malformed[.inexactTelemetry] == (this.isMalformed ? 1 : 0))
        #expect(malformed.total == malformed[.inexactTelemetry])
    }

    @Test("a temperature below zero is read, and one that is not supported is none")
    func temperatures() {
        var malformed = MalformedCounters()
        func temperature(_ service: UInt16, _ body: String) -> Float? {
            Telemetry(advertisingData: Self.serviceData(service, Self.bytes(body)).span, malformed: &malformed)?
                .temperature
        }
        #expect(temperature(0xfeaa, "20000bb8f5800000004500000258") == -10.5)
        #expect(temperature(0xfeaa, "20000bb880000000004500000258") == nil)
        // 12 bits: 0xfd4 is −44, in sixteenths of a degree −2.75.
        #expect(temperature(0xfe9a, "12130b412fb582477e01df89dd19c732f5fb5e41") == -2.75)
    }

    @Test("every prefix of a packet is harmless")
    func prefixes() {
        let data = Packets.flags + Self.serviceData(0xfeaa, Self.bytes("20000bb815000000004500000258"))
        for length in 0...data.count {
            var malformed = MalformedCounters()
            let telemetry = Telemetry(advertisingData: data.span.extracting(first: length), malformed: &malformed)
            #expect((telemetry != nil) == (length == data.count))
        }
    }

    @Test(
        "a voltage becomes a level by the curve of a coin cell",
        arguments: [
            (3600, 100), (3000, 100), (2950, 71), (2900, 42), (2820, 30), (2740, 18), (2590, 12), (2440, 6), (2270, 3),
            (2100, 0), (1800, 0), (1, 0),
        ] as [(UInt16, UInt8)])
    func curve(millivolts: UInt16, percent: UInt8) {
        #expect(BatteryReading(millivolts: millivolts)?.percent == percent)
    }

    @Test(
        "a voltage that no battery has is none, and a frame with it alone has no battery",
        arguments: [(15_000, true), (15_001, false), (59_000, false), (65_535, false)] as [(UInt16, Bool)])
    func impossibleVoltage(millivolts: UInt16, isPossible: Bool) {
        #expect((BatteryReading(millivolts: millivolts) != nil) == isPossible)
        #expect(BatteryReading(level: 50, millivolts: millivolts)?.millivolts == (isPossible ? millivolts : nil))
        let frame = Telemetry.Frame(.eddystone, level: nil, millivolts: millivolts)
        #expect((frame != .other) == isPossible)
    }

    @Test("the level that the tag sends counts, not the voltage")
    func levelFirst() throws {
        let reading = try #require(BatteryReading(level: 65, millivolts: 2100))
        #expect(reading.percent == 65)
        #expect("\(reading)" == "65 % (2.10 V)")
        #expect(BatteryReading(level: 101) == nil && BatteryReading(millivolts: 0) == nil && BatteryReading() == nil)
    }
}
