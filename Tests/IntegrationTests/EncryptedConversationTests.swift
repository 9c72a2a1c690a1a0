import Base
import Configuration
import Encryption
import JSON
import OwnTracks
import TestSupport
import Testing

/// Gateways with a key, seen by a client that has the key.
@Suite struct EncryptedConversationTests {
    private static let key = "correct horse battery staple 32!"

    private func open(_ text: String, with cipher: PayloadCipher) throws -> JSONValue {
        let envelope = try #require(EncryptedMessage(try JSONValue(parsing: text)))
        return try JSONValue(parsing: try cipher.decrypt(envelope))
    }

    private func send(_ json: JSONValue, to house: GatewayFixture, with cipher: PayloadCipher) throws {
        try house.send(cipher.encrypt(json.bytes).payload.text)
    }

    private func regions(of house: GatewayFixture, with cipher: PayloadCipher) throws -> JSONValue {
        let before = house.published("waypoints").count
        try send(["_type": "cmd", "action": "waypoints"], to: house, with: cipher)
        guard eventually({ house.published("waypoints").count > before }) else { throw SupportError(house.gateway.log) }
        return try open(house.published("waypoints")[before], with: cipher)
    }

    @Test func `Regions go encrypted from one gateway to another and come back the same`() throws {
        let cipher = try #require(PayloadCipher(key: Secret(Self.key)))
        let settings = "encryptionKey: \"\(Self.key)\", \(GatewayFixture.quiet)"
        let one = try GatewayFixture(
            "waypoints: [\(GatewayFixture.waypoint("k", "Küche|1|2"))], \(settings)", device: "one")
        let two = try GatewayFixture(settings, device: "two", broker: one.broker)
        let sent = try regions(of: one, with: cipher)
        #expect(GatewayFixture.names(sent) == ["k=Küche|1|2"])
        try send(["_type": "cmd", "action": "setWaypoints", "waypoints": sent], to: two, with: cipher)
        #expect(try regions(of: two, with: cipher) == sent)
        // An array of commands in one message.
        try send(
            [["_type": "cmd", "action": "clearWaypoints"], ["_type": "cmd", "action": "waypoints"]], to: two,
            with: cipher)
        #expect(eventually { two.published("waypoints").count == 2 })
        #expect(try open(two.published("waypoints")[1], with: cipher)["waypoints"] == [])
    }

    @Test func `All that goes out under a key is sealed, and only the will is not`() throws {
        let cipher = try #require(PayloadCipher(key: Secret(Self.key)))
        let house = try GatewayFixture(
            """
            encryptionKey: "\(Self.key)", lat: 52, lon: 6, card: {name: "Hall"},
            waypoints: [\(GatewayFixture.waypoint("k", "Kitchen"))], \(GatewayFixture.demo)
            """)
        #expect(eventually { !house.published("event").isEmpty }, "\(house.gateway.log)")
        #expect(eventually { !house.published().isEmpty && !house.published("info").isEmpty })
        for text in house.published("event") + house.published() + house.published("info") {
            #expect(text.hasPrefix(#"{"_type":"encrypted","data":""#))
        }
        #expect(try open(house.published("event")[0], with: cipher)["desc"] == "Kitchen")
        #expect(try open(house.published()[0], with: cipher)["inrids"] == ["k"])
        // The state for the home would say in the clear what the key hides.
        #expect(!house.witness.lines.contains { $0.topic.contains("/region/") && !$0.text.isEmpty })
        house.gateway.kill()
        #expect(eventually { house.published().last?.hasPrefix(#"{"_type":"lwt","tst":"#) == true })
    }

    @Test func `Where a key is set, what came without it is refused and changes nothing`() throws {
        let cipher = try #require(PayloadCipher(key: Secret(Self.key)))
        let stranger = try #require(PayloadCipher(key: Secret("another")))
        let house = try GatewayFixture(
            "encryptionKey: \"\(Self.key)\", waypoints: [\(GatewayFixture.waypoint("k", "K"))], \(GatewayFixture.quiet)"
        )
        try house.command("clearWaypoints")
        #expect(house.gateway.says("unencrypted"))
        try send(["_type": "cmd", "action": "clearWaypoints"], to: house, with: stranger)
        try house.send(#"{"_type":"encrypted","data":"YWJjZGUK"}"#)
        try house.send(#"{"_type":"encrypted"}"#)
        #expect(GatewayFixture.names(try regions(of: house, with: cipher)) == ["k=K"])
        try send(["_type": "cmd", "action": "status"], to: house, with: cipher)
        #expect(eventually { house.published("status").count == 1 })
        let status = try open(house.published("status")[0], with: cipher)
        #expect(status["gateway"]?["counters"]?["commandsRefused"] == 4)
    }

    @Test func `An encrypted command that is repeated without the key changes nothing, also after a kill`() throws {
        let cipher = try #require(PayloadCipher(key: Secret(Self.key)))
        let house = try GatewayFixture("encryptionKey: \"\(Self.key)\", \(GatewayFixture.quiet)")
        func add(_ rid: String) throws {
            let waypoint = try JSONValue(parsing: GatewayFixture.waypoint(rid, rid))
            try send(["_type": "cmd", "action": "setWaypoints", "waypoints": [waypoint]], to: house, with: cipher)
        }
        func names() throws -> [String] { GatewayFixture.names(try regions(of: house, with: cipher)) }
        let clear = cipher.encrypt(Array(#"{"_type":"cmd","action":"clearWaypoints"}"#.utf8)).payload.text
        try add("k")
        try house.send(clear)
        #expect(try names().isEmpty)
        try add("l")
        try house.send(clear)
        #expect(try names() == ["l=l"])
        #expect(house.gateway.says("this encrypted message was obeyed before"))
        try house.killAndStart()
        try house.send(clear)
        #expect(try names() == ["l=l"])
    }
}
