import Base
import Configuration
import Shell
import SiteProtocol
import Testing

@testable import GatewayApp

/// Which messages of a site are encrypted, and which are refused.
@Suite struct SiteSealTests {
    private static let plain = Array(#"{"v":1}"#.utf8)
    private static let root = "ibeacon-rooms/home/"
    private static let always = ["tags", "heard/g", "gateway/g", "learn"]
    private static let states = ["tag/t", "room/r", "health/g", "service/s"]
    private static let key = Secret("correct horse")

    private func topic(_ name: String) throws -> RoomTopic { try #require(RoomTopic(Self.root + name)) }

    @Test(arguments: always + states)
    func `With a key each topic of the site is encrypted, and what is plain is refused`(_ name: String) throws {
        let seal = SiteSeal(key: Self.key)
        let sealed = seal.sealed(Self.plain, for: Self.root + name)
        #expect(SiteSeal.isSealed(sealed))
        #expect(try seal.opened(sealed, of: topic(name)) == Self.plain)
        #expect(throws: SealError.plain) { try seal.opened(Self.plain, of: topic(name)) }
    }

    @Test(arguments: always + states)
    func `An empty message stays empty, with and without a key`(_ name: String) throws {
        for seal in [SiteSeal(key: Self.key), SiteSeal(key: nil)] {
            #expect(seal.sealed([], for: Self.root + name).isEmpty)
            #expect(try seal.opened([], of: topic(name)).isEmpty)
        }
    }

    @Test(arguments: [
        "espresense/rooms/n/status", "espresense/devices/iBeacon:11112222-3333-4444-5555-666677778888-1-7/n",
    ])
    func `Messages of ESPresense nodes are refused beside a key, unless plainState allows them`(_ name: String) throws {
        let topic = try #require(RoomTopic(name))
        #expect(throws: SealError.plain) { try SiteSeal(key: Self.key).opened(Self.plain, of: topic) }
        for seal in [SiteSeal(key: nil), SiteSeal(key: Self.key, publishesPlainState: true)] {
            #expect(try seal.opened(Self.plain, of: topic) == Self.plain)
        }
    }

    @Test(arguments: ["ibeacon-gateway/g/availability", "owntracks/jane/jane", "x"])
    func `Other topics are left as they are`(_ name: String) throws {
        let seal = SiteSeal(key: Self.key)
        #expect(seal.sealed(Self.plain, for: name) == Self.plain)
        if let topic = RoomTopic(name) { #expect(try seal.opened(Self.plain, of: topic) == Self.plain) }
    }

    @Test(arguments: states)
    func `plainState leaves the states plain, and takes them plain and encrypted`(_ name: String) throws {
        let seal = SiteSeal(key: Self.key, publishesPlainState: true)
        #expect(seal.sealed(Self.plain, for: Self.root + name) == Self.plain)
        #expect(try seal.opened(Self.plain, of: topic(name)) == Self.plain)
        let sealed = SiteSeal(key: Self.key).sealed(Self.plain, for: Self.root + name)
        #expect(try seal.opened(sealed, of: topic(name)) == Self.plain)
    }

    @Test(arguments: always)
    func `plainState changes nothing for what the service believes`(_ name: String) throws {
        let seal = SiteSeal(key: Self.key, publishesPlainState: true)
        #expect(SiteSeal.isSealed(seal.sealed(Self.plain, for: Self.root + name)))
        #expect(throws: SealError.plain) { try seal.opened(Self.plain, of: topic(name)) }
    }

    @Test func `Another key, a changed message and a missing key are told apart`() throws {
        let topic = try topic("heard/g")
        let sealed = SiteSeal(key: Secret("another")).sealed(Self.plain, for: topic.text)
        #expect(throws: SealError.noKey) { try SiteSeal(key: nil).opened(sealed, of: topic) }
        #expect(throws: SealError.wrongKey("it was made with another key, or changed on the way")) {
            try SiteSeal(key: Self.key).opened(sealed, of: topic)
        }
        var changed = SiteSeal(key: Self.key).sealed(Self.plain, for: topic.text)
        changed[changed.count - 5] ^= 1
        #expect(throws: SealError.self) { try SiteSeal(key: Self.key).opened(changed, of: topic) }
    }

    @Test func `The envelope is taken in every form of JSON`() throws {
        let seal = SiteSeal(key: Self.key)
        let text = String(decoding: seal.sealed(Self.plain, for: Self.root + "learn"), as: UTF8.self)
        let data = text.split(separator: "\"")[7]
        for form in [
            #"{ "_type": "encrypted", "data": "\#(data)" }"#, #"{"data":"\#(data)","_type":"encrypted","extra":1}"#,
        ] {
            #expect(try seal.opened(Array(form.utf8), of: topic("learn")) == Self.plain)
        }
    }
}
