import Base
import Foundation
import JSON
import Testing
import YAML

@testable import Tools

/// What a configuration of room-assistant becomes. The files are in `RoomAssistant`, in the forms that its documents show.
@Suite struct RoomAssistantTests {
    private func file(_ name: String) throws -> RoomAssistantFile {
        let url = try #require(Bundle.module.url(forResource: name, withExtension: nil, subdirectory: "RoomAssistant"))
        return try RoomAssistantFile([UInt8](Data(contentsOf: url)))
    }

    private func read(_ text: String) throws -> RoomAssistantFile { try RoomAssistantFile(Array(text.utf8)) }

    /// The members with this verdict, in the order of the file.
    private func members(_ file: RoomAssistantFile, _ verdict: RoomAssistantReport.Finding.Verdict) -> [String] {
        file.findings.filter { $0.verdict == verdict }.map(\.member)
    }

    private func setting(_ file: RoomAssistantFile, _ name: String) -> String? {
        file.settings.first { $0.name == name }?.value.text
    }

    @Test func `a room with tags keeps its room, its broker, its login and its tags`() throws {
        let file = try file("tags.yml")
        #expect(file.room == "living-room")
        #expect(file.broker?.address == "homeassistant.local:1883" && file.broker?.usesTLS == false)
        #expect(file.username == "room-assistant" && file.password?.revealed == "top secret")
        #expect(
            file.tags == [
                "Cool BLE Tag:mac:77:50:FB:4D:AB:70", "Jane keys:2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6:1:2",
                "Tag 1-3:2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6:1:3",
            ])
        #expect(file.addresses == ["Cool BLE Tag:mac:77:50:FB:4D:AB:70"])
        #expect(setting(file, "homeAssistant") == #"{"discovery":true,"prefix":"homeassistant"}"#)
        #expect(setting(file, "adapter") == #""hci1""#)
        #expect(setting(file, "battery") == #"[{"minorMask":"0xFF00","uuid":"2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6"}]"#)
        #expect(members(file, .lost) == ["bluetoothLowEnergy.allowlist[3]", "bluetoothLowEnergy.maxDistance"])
        #expect(members(file, .needless).contains("bluetoothLowEnergy.timeout"))
    }

    @Test func `regular expressions become patterns where they mean the same`() throws {
        let file = try file("patterns.yml")
        #expect(
            file.tags == [
                "Tag:2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6", "Tag 10:FDA50693-A4E2-4FB1-AFCF-C6EB07647825:10",
            ])
        #expect(file.broker?.address == "broker.lan:8883" && file.broker?.usesTLS == true)
        #expect(file.username == "jane" && file.password?.revealed == "p@ss")
        #expect(setting(file, "battery") == #"[{"minorMask":"0xFF00"}]"#)
        #expect(
            members(file, .lost) == [
                "global.integrations[0]", "global.integrations[2]", "mqtt.mqttOptions.rejectUnauthorized",
                "mqtt.baseTopic",
                "bluetoothLowEnergy.whitelist[2]", "bluetoothLowEnergy.whitelist[3]", "gpio",
            ])
    }

    @Test func `a configuration in JSON is read too, and what has no counterpart is named`() throws {
        let file = try file("cluster.json")
        #expect(file.room == "bedroom" && file.broker == nil && file.tags.isEmpty)
        #expect(setting(file, "homeAssistant") == #"{"discovery":true}"#)
        #expect(members(file, .needless) == ["global.apiPort", "cluster"])
        #expect(
            members(file, .lost) == [
                "global.integrations[1]", "homeAssistant.mqttUrl", "homeAssistant.sendMqttRoom", "bluetoothClassic",
                "entities",
            ])
    }

    @Test func `a member of a wrong type is named with its line, and the others are read`() throws {
        let file = try file("wrong-types.yml")
        #expect(
            members(file, .lost) == [
                "global", "homeAssistant.mqttUrl", "homeAssistant.mqttOptions", "homeAssistant.discoverPrefix",
                "bluetoothLowEnergy.allowlist", "bluetoothLowEnergy.tagOverrides", "bluetoothLowEnergy.batteryMask",
                "bluetoothLowEnergy.hciDeviceId", "bluetoothLowEnergy.minorMask", "blueoothClassic",
            ])
        #expect(file.findings.first { $0.member == "bluetoothLowEnergy.batteryMask" }?.line == 9)
        #expect(file.settings.isEmpty && file.tags.isEmpty)
    }

    @Test(
        arguments: [
            ("mqtt://broker.lan", "broker.lan:1883", false, nil),
            ("tcp://broker.lan:1884/x", "broker.lan:1884", false, nil),
            ("MQTTS://[fe80::1]:8884", "[fe80::1]:8884", true, nil), ("tls://jane@b", "b:8883", true, "jane"),
            ("mqtt://a%3Ab:c@b", "b:1883", false, "a:b"),
        ] as [(String, String, Bool, String?)])
    func `an address of a broker`(url: String, address: String, usesTLS: Bool, username: String?) {
        let broker = RoomAssistantBroker(url)
        #expect(broker?.address == address && broker?.usesTLS == usesTLS && broker?.username == username)
    }

    @Test(arguments: [
        "", "broker.lan", "ws://b", "mqtt://", "mqtt://:1883", "mqtt://b:0", "mqtt://b:65536", "mqtt://b:x",
        "mqtt://a%zz@b",
        "mqtt://[::1", "mqtt://a b",
    ])
    func `what is no address of a broker`(url: String) { #expect(RoomAssistantBroker(url) == nil) }

    @Test func `an id of digits alone is read as it stands in the file`() throws {
        let file = try read("bluetoothLowEnergy: {allowlist: [775004124e70, 001122334455, 123456]}")
        #expect(file.tags == ["Tag 4E70:mac:77:50:04:12:4E:70", "Tag 4455:mac:00:11:22:33:44:55"])
        #expect(members(file, .lost) == ["bluetoothLowEnergy.allowlist[2]"])
    }

    @Test func `tags of one name get numbers, and one that is there twice is one`() throws {
        let file = try read(
            """
            bluetoothLowEnergy:
              allowlist: [001122334455, 00:11:22:33:44:55, 001122334466]
              tagOverrides: {001122334455: {name: Keys}, 001122334466: {name: "+keys|1|2"}}
            """)
        #expect(file.tags == ["Keys:mac:00:11:22:33:44:55", "keys 1 2:mac:00:11:22:33:44:66"])
        let same = try read(
            "bluetoothLowEnergy: {allowlist: [001122334455, 001122334466], "
                + "tagOverrides: {001122334455: {name: Keys}, 001122334466: {name: keys}}}")
        #expect(same.tags.map { $0.prefix(6) } == ["Keys:m", "keys 2"])
    }

    @Test func `the login of one section does not go to the broker of the other`() throws {
        let file = try read(
            """
            mqtt: {mqttUrl: "mqtt://a", mqttOptions: {username: jane, password: hush}}
            homeAssistant: {mqttUrl: "mqtt://b"}
            """)
        #expect(file.broker?.host == "b" && file.username == nil && file.password == nil)
        #expect(members(file, .needless) == ["mqtt.mqttUrl", "mqtt.mqttOptions"])
    }

    @Test func `no finding has the password`() throws {
        let file = try file("tags.yml")
        #expect(!file.findings.contains { "\($0)".contains("top secret") })
        #expect(!"\(file)".contains("top secret"))
        #expect(
            !(try self.file("patterns.yml")).findings.contains { "\($0)".contains("ss@") || "\($0)".contains("p%40") })
    }

    @Test(arguments: ["", "~", "- a", "hello", "title: something else", "global:\n\tx: 1"])
    func `what is no configuration of room-assistant is refused`(text: String) {
        #expect(throws: YAMLError.self) { try read(text) }
    }
}
