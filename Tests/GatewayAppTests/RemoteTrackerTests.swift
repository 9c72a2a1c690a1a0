import Base
import Configuration
import Gateway
import Glibc
import OwnTracks
import Regions
import Runtime
import ServiceSupport
import Shell
import TestSupport
import Testing

@testable import GatewayApp

/// Trackers that come by `setConfiguration` to a gateway whose key is in a file.
struct RemoteTrackerTests {
    private static let settings = "encryptionKeyFile: \"key\", remoteConfiguration: true, http: null,"
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try write("a key")
    }

    private func write(_ key: String) throws {
        try directory.write("\(key)\n", to: "key")
        try run("chmod", ["600", directory.file("key")])
    }

    private func set(_ members: String, on fixture: ServiceFixture, isSealed: Bool = true) {
        let text =
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration",\#(members)}}"#
        fixture.command(text, isSealed: isSealed)
    }

    private static let tracker = #""trackers":[{"tid":"bb","deviceId":"e"}]"#

    private func events(of fixture: ServiceFixture) -> [String] {
        fixture.broker.messages.filter { $0.topic == "owntracks/jane/e/event" }.map {
            String(decoding: $0.payload, as: UTF8.self)
        }
    }

    private func expectSealed(_ fixture: ServiceFixture) throws {
        #expect(fixture.app.core.trackers.map(\.configuration.deviceID) == ["hall", "e"])
        try fixture.bringKeys()
        // After a restart they are inside already.
        fixture.wait(.seconds(120))
        #expect(!events(of: fixture).isEmpty)
        #expect(events(of: fixture).allSatisfy { $0.hasPrefix(#"{"_type":"encrypted""#) })
        let before = fixture.app.core.counters.commands.refused
        fixture.command(to: "e", #"{"_type":"cmd","action":"clearWaypoints"}"#)
        set(#""tag":"taken""#, on: fixture, isSealed: false)
        #expect(fixture.app.core.counters.commands.refused == before + 2)
        #expect(fixture.app.core.trackers[1].regions.regions.count == 1)
        #expect(fixture.app.core.configuration.tag == nil)
    }

    @Test func `An added tracker is encrypted and refuses plain commands, also after a restart`() throws {
        let fixture = try ServiceFixture(Self.settings, in: directory)
        set(Self.tracker, on: fixture)
        try expectSealed(fixture)
        try expectSealed(try fixture.restarted(Self.settings))
    }

    @Test func `A change is refused, and the file is named, if the key cannot be read at that time`() throws {
        let descriptor = open(try directory.write("", to: "log"), O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let fixture = try ServiceFixture(
            Self.settings, in: directory, log: Log(threshold: .info, style: .plain, descriptor: descriptor))
        try run("rm", [directory.file("key")])
        set(Self.tracker, on: fixture)
        #expect(fixture.app.core.trackers.count == 1)
        let log = String(decoding: try directory.read("log"), as: UTF8.self)
        #expect(
            log.split(separator: "\n").contains {
                $0.contains("command on owntracks/jane/hall/cmd refused: setConfiguration: encryptionKeyFile: ")
                    && $0.contains(directory.file("key"))
            }, "\(log)")
        try write("a key")
        set(Self.tracker, on: fixture)
        try expectSealed(fixture)
    }
}
