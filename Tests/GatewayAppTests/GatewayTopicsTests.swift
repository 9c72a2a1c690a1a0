import Base
import Beacon
import Messaging
import Scanning
import ServiceSupport
import Shell
import TestSupport
import Testing

@testable import GatewayApp

/// What `doctor` tests is what the service uses.
@Suite struct GatewayTopicsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(arguments: [
        ("", ["owntracks/jane/hall/cmd"]), ("cmd: false,", []),
        ("reannounce: true,", ["homeassistant/status", "owntracks/jane/hall/cmd"]),
        (
            "homeAssistant: {discovery: true, prefix: \"ha\"},",
            ["ha/status", "homeassistant/status", "owntracks/jane/hall/cmd"]
        ),
        ("rooms: null,", ["owntracks/jane/hall/cmd"]),
    ]) func `The topics of Home Assistant and of the site are subscribed to only where they are used`(
        members: String, filters: [String]
    ) throws {
        let fixture = try ServiceFixture(members, in: directory)
        fixture.wait(.seconds(1))
        #expect(fixture.broker.filters.sorted() == filters)
        let side = fixture.availability.filters.sorted()
        #expect(side.contains { $0.hasPrefix("ibeacon-rooms/") } == !members.contains("rooms: null"), "\(side)")
        #expect(side.contains { $0.hasSuffix("/config") } == members.contains("discovery"), "\(side)")
    }

    @Test(arguments: [
        "", "homeAssistant: {discovery: true},", "reannounce: true, homeAssistant: {prefix: \"ha\"},", "cmd: false,",
        "trackers: [{deviceId: \"anna\"}], homeAssistant: {discovery: true},",
        "rooms: {site: \"home\", encryptionKey: \"secret\"},", "bluetoothProxy: {keyFile: \"key\"},",
    ])
    func `Every topic that the service reads or writes is among those that are tested`(members: String) throws {
        try directory.write("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", to: "key")
        let machine = ProxyDouble()
        let fixture = try ServiceFixture(members, in: directory, proxies: machine.surroundings)
        fixture.radio.adapters = [AdapterStatus(receiver: Receiver(index: 0), name: "hci0")]
        try fixture.bringKeys()
        fixture.wait(.seconds(70))
        let used = GatewayTopics.used(fixture.service.configuration, at: 0)
        let read = Set(used.flatMap(\.filters))
        #expect(fixture.broker.filters.union(fixture.availability.filters).isSubset(of: read), "\(read)")
        let written = used.filter(\.access.writes).map(\.pattern)
        for message in fixture.broker.messages + fixture.availability.messages {
            #expect(written.contains { TopicFilter.matches($0, message.topic) }, "\(message.topic)")
        }
    }
}
