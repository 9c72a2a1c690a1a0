import Base
import Configuration
import Encryption
import JSON
import OwnTracks
import TestSupport
import Testing

/// Commands that speak to the broker themselves.
@Suite struct OneShotTests {
    private static let kitchen = GatewayFixture.waypoint("k", "Kitchen")
    private static let place = "lat: 52, lon: 6, tag: \"ground floor\", waypoints: [\(kitchen)]"

    @Test func `report publishes a location by hand where no service runs`() throws {
        let house = try GatewayFixture("\(Self.place), \(GatewayFixture.quiet)", starts: false)
        let printed = try house.gateway.ask("report", "--poi", "delicious seafood")
        #expect(eventually { house.published().count == 1 })
        let told = try #require(house.published().first)
        #expect(printed == "{\"topic\":\"\(house.base)\",\"qos\":1,\"retain\":true,\"payload\":\(told)}\n")
        let location = try JSONValue(parsing: told)
        #expect(location["t"] == "u")
        #expect((location["poi"], location["tag"]) == ("delicious seafood", "ground floor"))
        #expect((location["inregions"], location["inrids"]) == ([], []))
        #expect(house.witness.lines.count == 1)
    }

    @Test func `report beside a running service knows who is inside, and leaves the service alone`() throws {
        let house = try GatewayFixture("\(Self.place), \(GatewayFixture.stay)")
        #expect(house.gateway.says("entered Kitchen"), "\(house.gateway.log)")
        #expect(eventually { (try? house.gateway.ask("history").contains("Kitchen")) == true })
        _ = try house.gateway.ask("report", "--tag", "by hand")
        // The service publishes a location of its own with the enter, which may come later.
        let byHand = { house.published().first { $0.contains("by hand") } }
        #expect(eventually { byHand() != nil })
        let told = try #require(byHand())
        let location = try JSONValue(parsing: told)
        #expect((location["t"], location["tag"]) == ("u", "by hand"))
        #expect(location["inregions"] == ["Kitchen"])
        #expect(!house.gateway.log.contains("no broker"))
        #expect(!house.published().contains { $0.contains("lwt") })
    }

    @Test func `report knows who is inside without a history, and so where a tracker with an away place is`() throws {
        let house = try GatewayFixture("\(Self.place), away: {lat: 1, lon: 2}, days: 0, \(GatewayFixture.stay)")
        // What is published is on the disk.
        #expect(eventually { house.published("event").count == 1 }, "\(house.gateway.log)")
        let printed = try house.gateway.ask("report")
        let location = try #require(try JSONValue(parsing: printed)["payload"])
        #expect((location["lat"], location["lon"]) == (52, 6))
        #expect(location["inregions"] == ["Kitchen"])
    }

    @Test func `history says what its options leave out, and refuses a region that nobody knows`() throws {
        let others = [Self.kitchen, GatewayFixture.waypoint("c", "Cellar", suffix: ":9")]
        let house = try GatewayFixture("waypoints: [\(others.joined(separator: ","))], \(GatewayFixture.stay)")
        #expect(eventually { (try? house.gateway.ask("history").contains("Kitchen")) == true })
        let future = try house.gateway.ask("history", "--since", "2255-01-01", "--utc")
        let since = " since 2255-01-01 00:00:00 UTC"
        #expect(future.hasPrefix("nothing happened\(since); the latest event is of 20"), "\(future)")
        let kitchen = try house.gateway.ask("history", "--since", "2255-01-01", "--utc", "--region", "Kitchen")
        #expect(kitchen.hasPrefix("nothing of 'Kitchen'\(since); its latest event is of 20"), "\(kitchen)")
        let cellar = try house.gateway.ask("history", "--region", "Cellar")
        #expect(cellar == "nothing of 'Cellar', which is in no event of the history\n")
        #expect(try house.gateway.ask("history", "--region", "c", "--json") == "")
        for format in ["--utc", "--json", "--csv"] {
            let said = house.gateway.directory.file("said\(format)")
            let words = house.gateway.arguments + ["history", "--region", "Kicthen", format]
            #expect(try ChildProcess(try GatewayProcess.program, words, output: said).wait() == 65)
            let text = String(decoding: try house.gateway.directory.read("said\(format)"), as: UTF8.self)
            let reason = "there is no region 'Kicthen', and no event of one in the history; did you mean 'Kitchen'?"
            #expect(text.contains(reason), "\(text)")
        }
    }

    @Test func `history --csv writes control characters of a name, and does not send them to the terminal`() throws {
        let name = #"\u001b]0;gone\u0007Kit\u009bchen\u007f"#
        let house = try GatewayFixture("waypoints: [\(GatewayFixture.waypoint("k", name))], \(GatewayFixture.stay)")
        #expect(eventually { (try? house.gateway.ask("history", "--csv").contains("enter")) == true })
        let printed = try house.gateway.ask("history", "--csv")
        #expect(printed.contains(#"\x1b]0;gone\x07Kit\x9bchen\x7f"#), "\(printed)")
        #expect(!printed.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
    }

    @Test func `report is sealed where a key is set, and takes another tracker's name`() throws {
        let cipher = try #require(PayloadCipher(key: Secret("s3cr1t")))
        let house = try GatewayFixture(
            "\(Self.place), trackers: [{deviceId: \"keys\", tid: \"K1\", encryptionKey: \"s3cr1t\"}], \(GatewayFixture.quiet)",
            starts: false)
        _ = try house.gateway.ask("report", "--tracker", "K1")
        #expect(eventually { house.published(on: "owntracks/jane/keys").count == 1 })
        let told = try #require(house.published(on: "owntracks/jane/keys").first)
        let envelope = try #require(EncryptedMessage(try JSONValue(parsing: told)))
        #expect(try JSONValue(parsing: cipher.decrypt(envelope))["tid"] == "K1")
    }

    @Test func `report takes the settings that came from afar`() throws {
        let house = try GatewayFixture("remoteConfiguration: true, \(Self.place), \(GatewayFixture.quiet)")
        try house.send(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","tag":"attic"}}"#)
        #expect(house.gateway.says("the new settings are kept"))
        #expect(house.gateway.stop() == 0)
        #expect(try house.gateway.ask("report").contains(#""tag":"attic""#))
    }

    @Test func `report says what is wrong where there is no broker, and where the gateway is offline`() throws {
        for (port, reason) in [(try LoopbackPort.free(), "no broker"), (0, "offline (port 0)")] {
            let gateway = try GatewayProcess(Self.place, port: port)
            let file = gateway.directory.file("report.log")
            let process = try ChildProcess(try GatewayProcess.program, gateway.arguments + ["report"], output: file)
            #expect(process.wait() == 69)
            #expect(String(decoding: try gateway.directory.read("report.log"), as: UTF8.self).contains(reason))
        }
    }

    @Test func `replay --publish sends what it prints, in order and whole`() throws {
        let house = try GatewayFixture("\(Self.place), \(GatewayFixture.quiet)", starts: false)
        let printed = try house.gateway.ask(
            "--quiet", "replay", "--publish", "--tail", "60", "\(GatewayProcess.fixtures)/demo.btsnoop")
        let count = printed.split(separator: "\n").count
        #expect(eventually { house.witness.lines.count >= count })
        let lines = house.witness.lines.map { line in
            "{\"topic\":\"\(line.topic)\",\"qos\":\(line.qos),\"retain\":"
                + "\(line.topic.hasSuffix("/event") ? "false" : "true"),\"payload\":\(line.text)}"
        }
        #expect(lines.count >= 4)
        #expect(printed.split(separator: "\n").map(String.init) == lines)
    }
}
