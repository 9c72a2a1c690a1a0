import Base
import Beacon
import Encryption
import FoundationEssentials
import Identities
import JSON
import SiteProtocol
import TestSupport
import Testing

@testable import GatewayApp

/// The messages of Tests/Fixtures/site are those of both programs: what this one writes, the integration of Home Assistant
/// reads, and the other way round. Tests/HomeAssistantRooms/test_protocol.py tests the other program on the same files.
@Suite struct SiteFixtureTests {
    private static let tag = BeaconUUID("CA271EAE-5FA8-4E80-8F08-2A302A95A959")
    private static let key = IdentityKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b)
    private static let siteKey = "correct horse battery staple"

    private func fixture(_ name: String) throws -> [UInt8] {
        let path = "\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/")
        return Array(try Data(contentsOf: URL(filePath: "/\(path)/Fixtures/site/\(name)")))
    }

    private func beacons() throws -> (iBeacon: BeaconID, phone: BeaconID) {
        let uuid = try #require(Self.tag)
        return (BeaconID(uuid: uuid, major: 1, minor: 7), BeaconID(uuid: Self.key.uuid, major: 0, minor: 0))
    }

    private func instant(_ milliseconds: Int64) -> MonotonicInstant { .zero.advanced(by: .milliseconds(milliseconds)) }

    @Test func `What a receiver heard in a second is the same text in both programs`() throws {
        let (iBeacon, phone) = try beacons()
        let power = MeasuredPower(dBm: -59)
        let entries = [
            HeardMessage.Entry(
                beacon: iBeacon, count: 4, levels: (-70, -66), measuredPower: power, last: instant(100_900)),
            HeardMessage.Entry(
                beacon: phone, count: 1, levels: (-80, -80), measuredPower: power, last: instant(100_250)),
        ]
        let header = HeardMessage.Header(
            startID: "f3a9c0de00000001", at: instant(101_000), listened: .seconds(1), reports: 5)
        #expect(HeardMessage.payloads(header, firstSequence: 7, entries) == [try fixture("heard.json")])
        let second = try FeedDecoder.heard(try fixture("heard.json"))
        #expect(second.startID == "f3a9c0de00000001" && second.sequence == 7 && second.at == .milliseconds(101_000))
        #expect(second.listening == .seconds(1) && second.reports == 5)
        #expect(
            second.readings == [
                Reading(beacon: iBeacon, count: 4, level: -70, power: -59, age: .milliseconds(100)),
                Reading(beacon: phone, count: 1, level: -80, power: -59, age: .milliseconds(750)),
            ])
    }

    @Test func `The card that the integration writes is that of a gateway`() throws {
        let card = GatewayCard(
            room: RoomName("Küche"), version: "1.0.0", scanner: "Home Assistant esphome", since: 1_700_000_000,
            phones: [Self.key.uuid], source: DeviceAddress(value: 0xb827_eb00_2201, isRandom: false))
        #expect(try FeedDecoder.card(try fixture("card.json")) == card)
    }

    @Test func `The lists that the integration reads are those that are published`() throws {
        let uuid = try #require(Self.tag)
        let list = TagList(
            TagList.Version(7, "kitchen"),
            [
                TagList.Tag(uuid: uuid, major: 1, minor: 7, id: "jane", name: "Jane"),
                TagList.Tag(uuid: Self.key.uuid, major: nil, minor: nil, id: "jane-phone", name: "Jane phone"),
            ])
        #expect(try JSONValue(parsing: list.payload) == JSONValue(parsing: try fixture("tags.json")))
        var keys = PhoneKeys()
        try keys.set(PhoneKey(Self.key, isOrdered: true), of: "Jane phone", at: 1_700_000_000)
        try keys.set(PhoneKey(IdentityKey(high: 1, low: 2)), of: "John", at: 1_600_000_000)
        let isRemoved = keys.remove("John", at: 1_700_000_000)
        #expect(isRemoved)
        let phones: JSONValue = [
            "v": 1, "gateway": "kitchen", "list": .string(String(decoding: keys.bytes, as: UTF8.self)),
        ]
        #expect(try JSONValue(parsing: try fixture("phones.json")) == phones)
    }

    @Test(arguments: ["sealed-by-gateway.json", "sealed-by-integration.json"])
    func `What either program seals is opened`(_ name: String) throws {
        let cipher = try #require(PayloadCipher(key: Secret(Self.siteKey)))
        let envelope = try fixture(name)
        #expect(PayloadCipher.isSealed(envelope))
        #expect(try cipher.opened(envelope).plaintext == fixture("heard.json"))
    }
}
