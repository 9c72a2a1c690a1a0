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
            Vector(
                "the same, temperature and humidity", "10 16 e1ff a1016315803200aabbccddeeff", .minew, level: 99,
                temperature: 21.5),
            Vector("the same, acceleration", "12 16 e1ff a10364ff8000000080aabbccddeeff", .minew, level: 100),
            Vector(
                "custom-components/ble_monitor, issue 1085", "10 16 e1ff a1045b070d1770da36d36beda3", .minew, level: 91),
            Vector(
                "theengs/decoder, test_ble.cpp, BC08", "10 16 aafe 21010b0c1318000021fffdfc12", .eddystone,
                millivolts: 3091, temperature: 24),
            Vector(
                "the same, BC021, below zero", "10 16 aafe 21010b0c7affc0006dffe10416", .eddystone, millivolts: 3194,
                temperature: -0.25),
            Vector(
                "the same, KKM K6P, with humidity", "0c 16 aafe 2101070e5b16521f9b", .eddystone, millivolts: 3675,
                temperature: 22.3203125),
            Vector(
                "the same, KKM K9, all values", "12 16 aafe 21010f0e58f4362bd8000ffff103f7", .eddystone,
                millivolts: 3672,
                temperature: -11.7890625),
            Vector("the same, Feasycom BP108", "0e 16 f0ff 27021992aabbccddeeff64", .feasycom, level: 100),
            Vector("the same, Feasycom BP103B", "0e 16 f0ff 29021992aabbccddeeff64", .feasycom, level: 100),
            Vector("the same, MOKO", "10 16 01ff 64000000005085a000f0ffe003", .moko, level: 100),
            Vector("the same, Battery Service", "04 16 0f18 21", .batteryService, level: 33),
            Vector("the same, BTHome, a button", "0a 16 d2fc 40001d01643a01", .btHome, level: 100),
            Vector(
                "the same, BTHome, temperature", "0f 16 d2fc 4400ae01642e383afe45fa00", .btHome, level: 100,
                temperature: 25),
            Vector("reelyactive/advlib-ble-services, bthome.test.js", "06 16 d2fc 400161", .btHome, level: 97),
            Vector(
                "custom-components/ble_monitor, test_holyiot.py", "10 16 4252 4164c6b545f6f18e060601ed25", .holyiot,
                level: 100, temperature: -19.37),
            Vector("the same, humidity", "10 16 4252 4164c6b545f6f18e0606034c00", .holyiot, level: 100),
            Vector(
                "custom-components/ble_monitor, test_jaalee.py", "0e 16 25f5 644b1ecdb4f3d27420591a", .jaalee,
                level: 100,
                temperature: 34.383537),
            Vector(
                "the same, a byte more, the other service", "0f 16 1cf5 6465e6aa4cb0c801632e5535", .jaaleeSecond,
                level: 100, temperature: 22.79964),
        ])
    func vector(_ this: Vector) throws {
        var malformed = MalformedCounters()
        let found = Telemetry(advertisingData: this.data.span, malformed: &malformed)
        let telemetry = try #require(found)
        #expect(telemetry.format == this.format)
        #expect(telemetry.battery == this.battery)
        #expect((telemetry.temperature == nil) == (this.temperature == nil))
        #expect(abs((telemetry.temperature ?? 0) - (this.temperature ?? 0)) < 0.001)
        #expect(malformed.total == 0)
        #expect(IBeacon(advertisingData: this.data.span, malformed: &malformed) == nil)
    }

    @Test func `The bits that are asked for each report are those of the formats`() {
        let bits = Telemetry.Format.allCases.reduce(UInt64(0)) { $0 | 1 << UInt64($1.rawValue & 63) }
        #expect(Telemetry.lowBits == bits)
        #expect(
            Telemetry.Format.allCases.allSatisfy {
                Telemetry.format(of: [UInt8($0.rawValue & 255), UInt8($0.rawValue >> 8), 0].span) == $0
            })
        #expect(Telemetry.format(of: [0xaa, 0xfd, 0].span) == nil)
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
            Case("Minew, another frame", 0xffe1, "a1024501aabbccddeeff"),
            Case("Minew, temperature, the address cut", 0xffe1, "a1016315803200aabbccddee", malformed: true),
            Case("Minew, acceleration, a byte more", 0xffe1, "a10364ff8000000080aabbccddeeff00", malformed: true),
            Case("KKM, a byte short", 0xfeaa, "21010b0c1318000021fffdfc", malformed: true),
            Case("KKM, without a voltage", 0xfeaa, "21010a18000021fffdfc12"),
            Case("KKM, a value that is not described", 0xfeaa, "21011b0c1318000021fffdfc1200"),
            Case("KKM, another version", 0xfeaa, "21020b0c1318000021fffdfc12"),
            Case("Feasycom, plugged in", 0xfff0, "27021992aabbccddeeff65"),
            Case("Feasycom, 102 %", 0xfff0, "27021992aabbccddeeff66", malformed: true),
            Case("another device with Feasycom's service", 0xfff0, "5a021992aabbccddeeff64"),
            Case("the same, of another length", 0xfff0, "27021992aabbccddeeff"),
            Case("Holyiot, another kind", 0x5242, "4264c6b545f6f18e060601ed25"),
            Case("Holyiot, a byte short", 0x5242, "4164c6b545f6f18e060601ed", malformed: true),
            Case("Jaalee, a byte short", 0xf525, "644b1ecdb4f3d2742059", malformed: true),
            Case("Jaalee, 101 %", 0xf525, "654b1ecdb4f3d27420591a", malformed: true),
            Case("Battery Service, 101 %", 0x180f, "65", malformed: true),
            Case("Battery Service, more than the level", 0x180f, "2100"),
            Case("MOKO, another frame", 0xff01, "640000"),
            Case("BTHome, encrypted", 0xfcd2, "41e445f3c9962b332211006c7c4519"),
            Case("BTHome, version 1", 0xfcd2, "0201a1"),
            Case("BTHome, no battery", 0xfcd2, "4002c40903bf13"),
            Case("BTHome, a value cut", 0xfcd2, "40016102c4", malformed: true),
            Case("BTHome, the battery before an unknown value", 0xfcd2, "400161ee000000", level: 97),
            Case("BTHome, a text before the battery", 0xfcd2, "40530268690161", level: 97),
            Case("BTHome, a text that is cut", 0xfcd2, "4001615309686921", malformed: true),
            Case("BTHome, 101 %", 0xfcd2, "400165", malformed: true),
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
        #expect(temperature(0xffe1, "a10163f6803200aabbccddeeff") == -9.5)
        // BTHome: hundredths, tenths, whole degrees, and steps of 0.35.
        #expect(temperature(0xfcd2, "4001640218fc") == -10)
        #expect(temperature(0xfcd2, "400164459cff") == -10)
        #expect(temperature(0xfcd2, "40016457f6") == -10)
        #expect(temperature(0xfcd2, "40016458ec") == -7)
        // Jaalee: 35 of 175 degrees above -45.
        #expect(temperature(0xf525, "644b1ecdb4f3d23333591a") == -10)
        #expect(temperature(0xf51c, "6465e6aa4cb0c80133335535") == -10)
    }

    /// Its whole degrees are 0, and zero has no sign.
    @Test func `A Holyiot less than a degree below zero cannot be told from one above`() {
        var malformed = MalformedCounters()
        for (value, temperature) in [("ff00", -1), ("0063", 0.99), ("0100", 1)] as [(String, Float)] {
            let data = Self.serviceData(0x5242, Self.bytes("4164c6b545f6f18e060601" + value))
            #expect(Telemetry(advertisingData: data.span, malformed: &malformed)?.temperature == temperature)
        }
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
