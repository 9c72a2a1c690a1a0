import Beacon
import Testing

@testable import Identities

@Suite("What an identity is")
struct IdentityTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let identity: Identity
        let uuid: String

        init(_ text: String, _ identity: Identity, _ uuid: String) {
            (testDescription, self.identity, self.uuid) = (text, identity, uuid)
        }
    }

    @Test(
        "its text, and the UUID of version 5 in the namespace 0b87d8b3-eed6-4bff-9daa-54326bacec6a",
        arguments: [
            Row("mac:C0:FF:EE:00:00:01", .address(0xc0ff_ee00_0001), "533B9EE0-DC87-5E74-A527-5E88F94E944D"),
            Row(
                "eddystone:00112233445566778899:AABBCCDDEEFF",
                .eddystone(BeaconUUID(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)),
                "02265F75-DAE8-5691-B608-174DE0C3B824"),
            Row(
                "eddystone:00112233445566778899",
                .eddystoneSpace(BeaconUUID(high: 0x0011_2233_4455_6677, low: 0x8899_0000_0000_0000)),
                "56AC853C-CCFF-5DFF-AD0F-9B804165705B"),
            Row(
                "altbeacon:CA271EAE-5FA8-4E80-8F08-2A302A95A959",
                .altBeacon(BeaconUUID(high: 0xca27_1eae_5fa8_4e80, low: 0x8f08_2a30_2a95_a959)),
                "2EB65AE0-CE2F-548D-91B4-FB3A77C1912D"),
        ])
    func text(_ this: Row) {
        #expect(this.identity.text == this.testDescription)
        #expect("\(this.identity.uuid)" == this.uuid)
        #expect(Identity(this.testDescription) == this.identity)
        #expect(Identity(this.testDescription.lowercased()) == this.identity)
    }

    @Test(
        "an address is also read without separators, and with dashes", arguments: ["c0ffee000001", "C0-FF-EE-00-00-01"])
    func forms(_ text: String) { #expect(Identity("mac:\(text)") == .address(0xc0ff_ee00_0001)) }

    @Test(
        "other text is no identity",
        arguments: [
            "", "mac", "mac:", "mac:C0:FF:EE:00:00", "mac:C0:FF:EE:00:00:01:02", "mac:C0F:F:EE:00:00:01",
            "mac:G0:FF:EE:00:00:01", "mac:C0-FF-EE-00-0001", "eddystone:0011223344556677889",
            "eddystone:", "eddystone::AABBCCDDEEFF", "eddystone:00112233445566778899:AABBCCDDEE",
            "eddystone:00112233445566778899::", "eddystone:0011223344556677889:AABBCCDDEEFF",
            "eddystone:00112233445566778899:AABBCCDDEEFG",
            "eddystone:00112233445566778899:AABBCCDDEEFF:1", "altbeacon:CA271EAE", "altbeacon:", "ibeacon:1",
            "irk:ec0234a357c8ad05341010a60a397d9b",
        ])
    func faults(_ text: String) { #expect(Identity(text) == nil) }
}

@Suite("Frames that name their sender")
struct IdentityFrameTests {
    /// Public examples: the tests of github.com/AltBeacon/android-beacon-library.
    static let altBeaconExample = "02011a1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509"
    static let eddystoneExample = "0201060303aafe1516aafe00e72f234454f4911ba9ffa60000000000010c09526164426561636f6e2047"

    private func read(_ text: String) -> IdentityFrame? { IdentityFrame(advertisingData: octets(text).span) }

    @Test("an AltBeacon of any company")
    func altBeacon() throws {
        let frame = try #require(read(Self.altBeaconExample))
        #expect(frame.identity.text == "altbeacon:2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6")
        #expect((frame.major, frame.minor) == (1, 2))
        #expect(frame.measuredPower.dBm == -59)
    }

    @Test("an Eddystone-UID, whose power is that at 0 m")
    func eddystone() throws {
        let frame = try #require(read(Self.eddystoneExample))
        #expect(frame.identity.text == "eddystone:2F234454F4911BA9FFA6:000000000001")
        #expect(frame.measuredPower.dBm == -25 - 41)
    }

    @Test("a frame that is not whole and exact is none", arguments: [altBeaconExample, eddystoneExample])
    func exact(_ text: String) throws {
        let whole = octets(text)
        func isFrame(_ bytes: [UInt8]) -> Bool { IdentityFrame(advertisingData: bytes.span) != nil }
        for count in 0..<whole.count where isFrame(Array(whole[..<count])) {
            // Behind the frame there may be other structures.
            #expect(text == Self.eddystoneExample && count >= 29, "\(count) bytes")
        }
        // One byte more in the structure of the frame.
        var longer = whole
        longer[text == Self.altBeaconExample ? 3 : 7] += 1
        longer.append(0)
        #expect(!isFrame(longer))
    }
}

/// The bytes of hexadecimal text.
func octets(_ text: String) -> [UInt8] {
    stride(from: 0, to: text.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
}
