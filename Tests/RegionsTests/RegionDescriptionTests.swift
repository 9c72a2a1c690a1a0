import Beacon
import Identities
import TestSupport
import Testing

@testable import Regions

@Suite("name:UUID[:major[:minor]]")
struct RegionDescriptionTests {
    static let text = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
    static let uuid = BeaconUUID(high: 0xca27_1eae_5fa8_4e80, low: 0x8f08_2a30_2a95_a959)

    /// Behind `Kitchen:UUID`: what the numbers are, nil for any.
    struct Numbers: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let base: NumberBase
        let major: UInt16?
        let minor: UInt16?

        init(_ text: String, _ base: NumberBase, _ major: UInt16?, _ minor: UInt16?) {
            (testDescription, self.base, self.major, self.minor) = (text, base, major, minor)
        }
    }

    @Test(
        "numbers are decimal or hexadecimal as the rule says",
        arguments: [
            Numbers("", .auto, nil, nil),
            Numbers(":", .auto, nil, nil),
            Numbers("::", .auto, nil, nil),
            Numbers(":0:0", .auto, nil, nil),
            Numbers(":10:20", .auto, 10, 20),
            Numbers(":1", .auto, 1, nil),
            Numbers("::7", .auto, nil, 7),
            Numbers(":0:7", .auto, nil, 7),
            Numbers(":0001:CAFE", .auto, 1, 51966),
            Numbers(":10:CAFE", .auto, 0x10, 51966),
            Numbers(":CAFE:10", .auto, 51966, 0x10),
            Numbers(":0x10:20", .auto, 0x10, 0x20),
            Numbers(":0X1f", .auto, 0x1f, nil),
            Numbers(":0010", .auto, 0x10, nil),
            Numbers(":0010:20", .auto, 0x10, 0x20),
            Numbers(":0000:20", .auto, nil, 0x20),
            Numbers(":00010", .auto, 10, nil),
            Numbers(":010:20", .auto, 10, 20),
            Numbers(":1234:5678", .auto, 1234, 5678),
            Numbers(":65535:65535", .auto, 65535, 65535),
            Numbers(":ffff:FFFF", .auto, 65535, 65535),
            Numbers(": 1 :\t2 ", .auto, 1, 2),
            Numbers(":0010:20", .decimal, 10, 20),
            Numbers(":0x10:20", .decimal, 16, 20),
            Numbers(":10:20", .hexadecimal, 16, 32),
        ])
    func numbers(_ this: Numbers) throws {
        let description = try RegionDescription(
            parsing: "Kitchen:\(Self.text)\(this.testDescription)", base: this.base)
        #expect(description.name == "Kitchen")
        #expect(description.pattern == BeaconPattern(uuid: Self.uuid, major: this.major, minor: this.minor))
    }

    @Test(
        "the name is taken verbatim",
        arguments: ["Kitchen", "-Kitchen", "+follow", "Kitchen|1|2", " a b ", "Küche 🍳", "\"\\", "🏳️‍🌈"])
    func names(_ name: String) throws {
        #expect(try RegionDescription(parsing: name).name == name)
        let description = try RegionDescription(parsing: "\(name):\(Self.text):1")
        #expect(description.name == name)
        #expect(description.pattern == BeaconPattern(uuid: Self.uuid, major: 1))
    }

    @Test("what is no iBeacon gets the UUID that is derived from it")
    func identities() throws {
        let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
        let space = BeaconUUID(high: Self.uuid.high, low: 0x8f08_0000_0000_0000)
        let rows: [(String, Identity, UInt16?, UInt16?)] = [
            ("mac:C0:FF:EE:00:00:01", .address(0xc0ff_ee00_0001), nil, nil),
            (" MAC : c0ffee000001 ", .address(0xc0ff_ee00_0001), nil, nil),
            ("eddystone:CA271EAE5FA84E808F08:2A302A95A959", .eddystone(Self.uuid), nil, nil),
            ("eddystone:CA271EAE5FA84E808F08", .eddystoneSpace(space), nil, nil),
            ("eddystone:CA271EAE5FA84E808F08: ", .eddystoneSpace(space), nil, nil),
            ("altbeacon:\(uuid)", .altBeacon(Self.uuid), nil, nil),
            ("altbeacon:\(uuid):1:2", .altBeacon(Self.uuid), 1, 2),
        ]
        for (text, identity, major, minor) in rows {
            let description = try RegionDescription(parsing: "Bike:\(text)")
            #expect(description.name == "Bike")
            #expect(description.identity == identity)
            #expect(description.pattern == BeaconPattern(uuid: identity.uuid, major: major, minor: minor))
        }
    }

    @Test("a name alone has no beacon")
    func nameAlone() throws {
        #expect(try RegionDescription(parsing: "Home").pattern == nil)
    }

    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let error: RegionDescriptionError

        init(_ text: String, _ error: RegionDescriptionError) { (testDescription, self.error) = (text, error) }
    }

    @Test(
        "what cannot be read is refused with its reason",
        arguments: [
            Fault("", .emptyName),
            Fault(":\(text)", .emptyName),
            Fault("a:b", .invalidUUID("b")),
            Fault("a:", .invalidUUID("")),
            Fault("a:\(text)0", .invalidUUID("\(text)0")),
            Fault("a:\(text):1:2:3", .tooManyParts(5)),
            Fault(
                "a:mac:C0:FF:EE:00:00",
                .invalidIdentity(reason: IdentityError.invalidAddress("C0:FF:EE:00:00").description)),
            Fault("a:eddystone:1:2", .invalidIdentity(reason: IdentityError.invalidEddystone("1:2").description)),
            Fault("a:altbeacon:1:2", .invalidIdentity(reason: IdentityError.invalidUUID("1:2").description)),
            Fault("a:altbeacon:\(text):1:2:3", .tooManyParts(6)),
            Fault("a:irk:ec0234a357c8ad05341010a60a397d9b", .secretKey),
            Fault("a:\(text):x", .invalidNumber(member: "major", text: "x")),
            Fault("a:\(text):1:0x", .invalidNumber(member: "minor", text: "0x")),
            Fault("a:\(text):-1", .invalidNumber(member: "major", text: "-1")),
            Fault("a:\(text):+1", .invalidNumber(member: "major", text: "+1")),
            Fault("a:\(text):1.5", .invalidNumber(member: "major", text: "1.5")),
            Fault("a:\(text):65536", .numberOutOfRange(member: "major", text: "65536")),
            Fault("a:\(text):1:0x10000", .numberOutOfRange(member: "minor", text: "0x10000")),
            Fault("a:\(text):99999999999999999999", .numberOutOfRange(member: "major", text: "99999999999999999999")),
        ])
    func faults(_ this: Fault) {
        #expect(throws: this.error) { try RegionDescription(parsing: this.testDescription) }
        #expect(!this.error.description.isEmpty)
    }

    @Test("a name is at most 16384 bytes long")
    func longNames() throws {
        let longest = String(repeating: "n", count: RegionDescription.longestName)
        #expect(try RegionDescription(parsing: longest).name == longest)
        #expect(throws: RegionDescriptionError.nameTooLong(bytes: 16385)) {
            try RegionDescription(parsing: longest + "n")
        }
    }

    @Test("what is written reads the same again", arguments: NumberBase.allCases)
    func roundTrip(base: NumberBase) throws {
        var random = SplitMix64(seed: 3)
        let numbers: [UInt16?] = [nil, 1, 9, 10, 255, 0x1000, 0xcafe, 65535]
        for major in numbers + (0..<5).map({ _ in UInt16.random(in: 1...65535, using: &random) }) {
            for minor in numbers {
                let pattern = BeaconPattern(uuid: Self.uuid, major: major, minor: minor)
                let description = RegionDescription(name: "Kitchen", pattern: pattern)
                let written = description.text(base: base)
                #expect(try RegionDescription(parsing: written, base: base) == description, "\(written)")
            }
        }
    }

    @Test("random text is read or refused, never worse", arguments: 0..<4)
    func randomText(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let pieces = ["a", ":", Self.text, "0", "0x", "CAFE", " ", "-", "\u{301}", "\r\n", "65536", "é", "|"]
        for _ in 0..<1_000 {
            let text = (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in
                pieces.randomElement(using: &random)
            }
            .joined()
            guard let description = try? RegionDescription(parsing: text) else { continue }
            let again = try? RegionDescription(parsing: description.text())
            if again != description { Issue.record("\(text) does not read the same again") }
        }
    }
}
