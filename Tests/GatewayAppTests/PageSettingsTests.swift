import Configuration
import Gateway
import JSON
import OwnTracks
import PageServer
import Regions
import ServiceSupport
import Shell
import TestSupport
import Testing

@testable import GatewayApp

/// The settings that people change on the page.
struct PageSettingsTests {
    private static let open = "remoteConfiguration: true,"
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func page(_ fixture: ServiceFixture) throws -> any PageSource { try #require(fixture.status.page) }

    private func form(_ fixture: ServiceFixture) throws -> JSONValue {
        let answer = try page(fixture).read(PageRequest(path: "/settings.json") { _ in nil })
        guard case .json(let json)? = answer else {
            Issue.record("\(String(describing: answer))")
            return .null
        }
        return json
    }

    private func save(_ body: JSONValue, on fixture: ServiceFixture) throws -> PageAnswer? {
        let answer = try page(fixture).change("/settings", body)
        fixture.settle()
        return answer
    }

    private func reason(_ answer: PageAnswer?) -> String {
        if case .refused(422, let reason)? = answer { reason } else { "\(String(describing: answer))" }
    }

    @Test func `Settings of the page are tried, kept, and in force after a restart`() throws {
        var fixture = try ServiceFixture(Self.open, in: directory)
        let wanted: JSONValue = [
            "discovery": true, "lat": .number(48.2), "lon": .number(16.37), "leaveAfter": 30, "names": ["Hall"],
        ]
        #expect(try save(wanted, on: fixture) == .done)
        for _ in 1...2 {
            let configuration = fixture.app.core.configuration
            #expect(configuration.homeAssistant.discovery)
            #expect(configuration.position.coordinates.latitude == 48.2)
            #expect(configuration.leaveRule.json == 30)
            #expect(configuration.trackers.map(\.name) == ["Hall"])
            #expect(try form(fixture)["isOnTrial"] == false)
            fixture = try fixture.restarted(Self.open)
        }
    }

    @Test func `Without remoteConfiguration the page says so, and changes nothing`() throws {
        let fixture = try ServiceFixture(in: directory)
        #expect(try form(fixture)["obstacle"]?.string?.contains("remoteConfiguration: true") == true)
        #expect(reason(try save(["leaveAfter": 30], on: fixture)).contains("remoteConfiguration: true"))
        #expect(fixture.app.core.configuration.leaveRule.json == 60)
    }

    @Test func `Where commands are switched off, the page changes no settings`() throws {
        let fixture = try ServiceFixture(Self.open + "cmd: false,", in: directory)
        #expect(reason(try save(["leaveAfter": 30], on: fixture)).contains("'cmd' is false"))
    }

    @Test(
        "What is not valid, or not among these settings, is refused with its reason",
        arguments: [
            (#"{"leaveAfter":-1}"#, "leaveAfter"), (#"{"lat":91,"lon":0}"#, "lat"),
            (#"{"discovery":"perhaps"}"#, "discovery"),
            (#"{"lat":48}"#, "both latitude and longitude"),
            (#"{"host":"evil.example"}"#, "'host' cannot be changed here"),
            (#"{"remoteConfiguration":false}"#, "cannot be changed here"), (#"{"names":[]}"#, "trackers have changed"),
            (#"{"names":["a\u0007"]}"#, "name"),
        ])
    func refusals(body: String, reason text: String) throws {
        let fixture = try ServiceFixture(Self.open, in: directory)
        let before = fixture.app.core.configuration
        let answer = try save(try JSONValue(parsing: Array(body.utf8)), on: fixture)
        #expect(reason(answer).contains(text), "\(reason(answer))")
        #expect(fixture.app.core.configuration == before)
        #expect(fixture.app.core.remoteSettings == nil)
    }

    @Test func `Settings that no connection accepts are put back after the trial, and the page learns why`() throws {
        let fixture = try ServiceFixture(Self.open + "remoteConfigurationTrial: 10,", in: directory)
        fixture.broker.isReachable = false
        fixture.broker.lose()
        fixture.settle()
        #expect(try save(["leaveAfter": 30], on: fixture) == .done)
        let onTrial = try form(fixture)
        #expect(onTrial["isOnTrial"] == true)
        #expect(onTrial["settings"]?["leaveAfter"] == 30)
        #expect(reason(try save(["leaveAfter": 40], on: fixture)).contains("being tried"))
        fixture.wait(.seconds(11))
        let after = try form(fixture)
        #expect(after["isOnTrial"] == false)
        #expect(after["settings"]?["leaveAfter"] == 60)
        #expect(after["refused"] == 1)
        #expect(after["reason"]?.string?.contains("within 10 s") == true, "\(after)")
    }

    @Test func `A name of one tracker leaves all else of the trackers as it is`() throws {
        let trackers =
            #"trackers: [{deviceId: "keys", tid: "k", name: "Keys"}, {deviceId: "bag", tid: "b", username: "bags"}],"#
        let fixture = try ServiceFixture(Self.open + trackers, in: directory)
        #expect(try save(["names": [.null, "Keys", "Bag"]], on: fixture) == .done)
        #expect(fixture.app.core.trackers.map(\.configuration.name) == [nil, "Keys", "Bag"])
        #expect(fixture.app.core.trackers.map(\.configuration.deviceID) == ["hall", "keys", "bag"])
        #expect(fixture.app.core.remoteSettings?["trackers"]?.array?.last?["username"] == "bags")
        // null takes a name away.
        #expect(try save(["names": [.null, .null, "Bag"]], on: fixture) == .done)
        #expect(fixture.app.core.trackers.map(\.configuration.name) == [nil, nil, "Bag"])
    }

    @Test func `What the person left as it was is not kept as a setting of its own`() throws {
        let fixture = try ServiceFixture(Self.open + #"lat: 48.2, lon: 16.37,"#, in: directory)
        let shown = try #require(try form(fixture)["settings"]?.object)
        #expect(try save(.object(shown.filter { $0.key != "devices" }), on: fixture) == .done)
        #expect(fixture.app.core.remoteSettings == nil)
        #expect(try save(["leaveAfter": 30, "lat": .number(48.2)], on: fixture) == .done)
        let kept = fixture.app.core.remoteSettings?.object ?? [:]
        #expect(kept.keys.filter { !$0.hasPrefix("_") } == ["leaveAfter"])
    }

    @Test func `Discovery is switched on the page without another prefix`() throws {
        let fixture = try ServiceFixture(Self.open + #"homeAssistant: {prefix: "ha"},"#, in: directory)
        #expect(try save(["discovery": true], on: fixture) == .done)
        #expect(fixture.app.core.configuration.homeAssistant.discovery)
        #expect(fixture.app.core.configuration.homeAssistant.prefix == "ha")
    }

    @Test func `A tracker with a key of its own keeps it, and its name is changed in the file alone`() throws {
        let trackers = #"trackers: [{deviceId: "keys", tid: "k", encryptionKey: "secret"}],"#
        try directory.write("", to: "config.json")
        try run("chmod", ["600", directory.file("config.json")])
        let fixture = try ServiceFixture(Self.open + trackers, in: directory)
        #expect(reason(try save(["names": [.null, "Keys"]], on: fixture)).contains("trackers with keys"))
        #expect(try !form(fixture).text.contains("secret"))
    }
}
