import Base
import Configuration
import Encryption
import Glibc
import JSON
import OwnTracks
import TestSupport
import Testing

/// The whole program in HTTP mode, before a server of the test's own.
@Suite struct HTTPRunTests {
    /// Nothing at all is heard.
    private static let silence =
        "scanner: {capture: \"\(GatewayProcess.fixtures)/captures/empty.btsnoop\"}, leaveAfter: 3"
    private static let place = "lat: 52, lon: 6, waypoints: [\(GatewayFixture.waypoint("k", "Kitchen"))]"

    private func gateway(_ url: String, _ members: String, air: String = HTTPRunTests.silence) throws -> GatewayProcess
    {
        try GatewayProcess(
            "mode: 3, url: \"\(url)\", \(Self.place), \(air)\(members.isEmpty ? "" : ", \(members)")", port: 1)
    }

    private func json(_ endpoint: ScriptedEndpoint) -> [JSONValue] {
        endpoint.messages.compactMap { try? JSONValue(parsing: $0.body) }
    }

    /// `enter`, `leave` and so on, of each transition in the order in which they came.
    private func events(_ endpoint: ScriptedEndpoint) -> [String] {
        json(endpoint).compactMap { $0["_type"] == "transition" ? $0["event"]?.string : nil }
    }

    private static func command(_ action: String) -> String { "{\"_type\":\"cmd\",\"action\":\"\(action)\"}" }

    @Test func `Enter and leave are posted, each with a location after it, and nothing else`() throws {
        let endpoint = try ScriptedEndpoint()
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "card: {name: \"Hall\"}", air: GatewayFixture.demo)
        try gateway.start()
        #expect(eventually { json(endpoint).count >= 5 }, "\(gateway.log)")
        #expect(gateway.stop() == 0)
        let messages = json(endpoint)
        #expect(messages.count { $0["_type"] == "card" } == 1)
        #expect(
            messages.filter { $0["_type"] != "card" }.map { $0["_type"] } == [
                "transition", "location", "transition", "location",
            ])
        #expect(events(endpoint) == ["enter", "leave"])
        #expect(
            Set(messages.map { $0["topic"]?.string })
                == ["owntracks/jane/hall/info", "owntracks/jane/hall/event", "owntracks/jane/hall"])
        for request in endpoint.requests {
            #expect((request.headers["x-limit-u"], request.headers["x-limit-d"]) == ("jane", "hall"))
            #expect(request.headers["user-agent"]?.hasPrefix("ibeacon-gateway/") == true)
        }
    }

    @Test func `Without a server everything waits through kill -9, and is posted once and in order when it comes`()
        throws
    {
        let place = try LoopbackPort.Listener(listens: false)
        let port = place.port
        let gateway = try gateway("http://127.0.0.1:\(port)/pub", "", air: GatewayFixture.demo)
        try gateway.start()
        #expect(gateway.says("left Kitchen"))
        #expect(gateway.says("no server: the server cannot be reached"))
        #expect(eventually { (try? gateway.ask("history").contains("left")) == true })
        gateway.kill()
        try gateway.configure("mode: 3, url: \"http://127.0.0.1:\(port)/pub\", \(Self.place), \(Self.silence)", port: 1)
        try gateway.start()
        #expect(eventually { gateway.log.split(separator: "no server").count > 2 })
        let endpoint = try ScriptedEndpoint(on: place)
        defer { endpoint.close() }
        #expect(eventually { json(endpoint).count >= 4 }, "\(gateway.log)")
        #expect(gateway.says("connected to http://127.0.0.1:\(port)"))
        #expect(gateway.stop() == 0)
        #expect(events(endpoint) == ["enter", "leave"])
        #expect(json(endpoint).count == 4)
    }

    @Test func `Killed before the answer, it posts the same bytes again`() throws {
        let endpoint = try ScriptedEndpoint { $0.body.isEmpty ? .status(200) : .silence }
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "", air: GatewayFixture.demo)
        try gateway.start()
        #expect(eventually { endpoint.messages.count == 1 })
        #expect(gateway.says("left Kitchen"))
        #expect(eventually { (try? gateway.ask("history").contains("left")) == true })
        gateway.kill()
        endpoint.reply { _ in .status(200) }
        try gateway.configure("mode: 3, url: \"\(endpoint.url)\", \(Self.place), \(Self.silence)", port: 1)
        try gateway.start()
        #expect(eventually { endpoint.messages.count >= 5 }, "\(gateway.log)")
        #expect(gateway.stop() == 0)
        let bodies = endpoint.messages.map(\.body)
        #expect(bodies[0] == bodies[1])
        #expect(bodies.count == 5)
        #expect(events(endpoint) == ["enter", "enter", "leave"])
    }

    @Test func `Killed at random instants before a server that fails at random, it loses nothing and keeps the order`()
        throws
    {
        let endpoint = try ScriptedEndpoint { _ in
            switch Int.random(in: 0..<4) {
            case 0: .status(503)
            case 1: .hangUp
            default: .status(200)
            }
        }
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "", air: GatewayFixture.demo)
        let history = {
            (try? gateway.ask("history", "--json").split(separator: "\n").map {
                $0.contains("enter") ? "enter" : "leave"
            }) ?? []
        }
        for life in 1...6 {
            try gateway.start()
            // However slow the machine, there is something that may be lost.
            if life == 1 { #expect(eventually { !history().isEmpty }, "\(gateway.log)") }
            usleep(.random(in: 500_000...4_000_000))
            gateway.kill()
        }
        endpoint.reply { _ in .status(200) }
        try gateway.configure("mode: 3, url: \"\(endpoint.url)\", \(Self.place), \(Self.silence)", port: 1)
        try gateway.start()
        // A repeat has the same bytes as what it repeats.
        let posted = {
            var seen: Set<[UInt8]> = []
            return endpoint.messages.filter { seen.insert($0.body).inserted }.compactMap {
                try? JSONValue(parsing: $0.body)
            }
            .compactMap { $0["_type"] == "transition" ? $0["event"]?.string : nil }
        }
        // A beacon that was inside when the last process was killed leaves.
        #expect(eventually { history().last == "leave" && posted() == history() }, "\(posted()) \(history())")
        #expect(gateway.stop() == 0)
    }

    @Test func `A wrong login is told, without the password, and costs no message`() throws {
        // jane:s3cr1t
        let endpoint = try ScriptedEndpoint { request in
            .status(request.headers["authorization"] == "Basic amFuZTpzM2NyMXQ=" ? 200 : 401)
        }
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "password: \"hunter2\"", air: GatewayFixture.demo)
        try gateway.start()
        #expect(gateway.says("no server: the server answers 401 (wrong user name or password)"))
        #expect(gateway.says("left Kitchen"))
        #expect(gateway.stop() == 0)
        #expect(endpoint.messages.isEmpty)
        #expect(!gateway.log.contains("hunter2"))
        try gateway.configure(
            "mode: 3, url: \"\(endpoint.url)\", password: \"s3cr1t\", \(Self.place), \(Self.silence)", port: 1)
        try gateway.start()
        #expect(eventually { events(endpoint) == ["enter", "leave"] }, "\(gateway.log)")
    }

    @Test func `Commands in the answers are obeyed, and friends' locations in them are no commands`() throws {
        let greeted =
            "[{\"_type\":\"location\",\"lat\":1,\"lon\":2,\"tst\":1,\"tid\":\"xx\"},\(Self.command("waypoints")),\(Self.command("status"))]"
        let endpoint = try ScriptedEndpoint { .status(200, $0.body.isEmpty ? greeted : "[]") }
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "")
        try gateway.start()
        #expect(eventually { json(endpoint).count == 2 }, "\(gateway.log)")
        #expect(json(endpoint).map { $0["_type"] } == ["waypoints", "status"])
        #expect(GatewayFixture.names(json(endpoint)[0]) == ["k=Kitchen"])
        #expect(json(endpoint)[1]["gateway"]?["counters"]?["commandsRefused"] == 0)
    }

    @Test func `A region that is set by an answer is watched at once`() throws {
        let set =
            "[{\"_type\":\"cmd\",\"action\":\"setWaypoints\",\"waypoints\":{\"_type\":\"waypoints\",\"waypoints\":[\(GatewayFixture.waypoint("h", "Hall"))]}}]"
        let endpoint = try ScriptedEndpoint { .status(200, $0.body.isEmpty ? set : "[]") }
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "", air: GatewayFixture.stay)
        try gateway.start()
        #expect(
            eventually { json(endpoint).contains { $0["_type"] == "transition" && $0["desc"] == "Hall" } },
            "\(gateway.log)")
    }

    @Test func `A server that puts the same commands into every answer is obeyed once a minute, and is no storm`()
        throws
    {
        let answer = "[\(Self.command("reportLocation")),\(Self.command("waypoints"))]"
        let endpoint = try ScriptedEndpoint { _ in .status(200, answer) }
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "")
        try gateway.start()
        #expect(eventually { json(endpoint).count >= 2 })
        usleep(5_000_000)
        #expect(json(endpoint).map { $0["_type"] } == ["location", "waypoints"])
    }

    @Test func `A server that thinks of another command for every answer is no storm either`() throws {
        let endpoint = try ScriptedEndpoint { request in
            .status(200, "[\(Self.command(request.text.contains("waypoints") ? "reportLocation" : "waypoints"))]")
        }
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "")
        try gateway.start()
        #expect(eventually { json(endpoint).count >= 3 })
        let before = json(endpoint).count
        let start = ContinuousClock.now
        #expect(eventually { json(endpoint).count >= before + 4 })
        // One a second, and two at the edges.
        let (count, took) = (json(endpoint).count - before, start.duration(to: .now))
        #expect(Double(count) <= took / .seconds(1) + 2, "\(count) in \(took)")
    }

    @Test func `With cmd off no answer is obeyed`() throws {
        let endpoint = try ScriptedEndpoint { _ in .status(200, "[\(Self.command("reportLocation"))]") }
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "cmd: false", air: GatewayFixture.demo)
        try gateway.start()
        #expect(eventually { events(endpoint) == ["enter", "leave"] })
        #expect(!json(endpoint).contains { $0["t"] == "r" })
    }

    @Test func `With a key, messages and commands are sealed, and a plain command is refused`() throws {
        let cipher = try #require(PayloadCipher(key: Secret("s3cr1t")))
        let sealed = cipher.encrypt(Array("[\(Self.command("reportLocation"))]".utf8)).payload.text
        let plain = "[\(Self.command("clearWaypoints"))]"
        let endpoint = try ScriptedEndpoint { .status(200, $0.body.isEmpty ? sealed : plain) }
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "encryptionKey: \"s3cr1t\"")
        try gateway.start()
        #expect(eventually { json(endpoint).count == 1 }, "\(gateway.log)")
        let envelope = try #require(json(endpoint).first.flatMap(EncryptedMessage.init))
        let location = try JSONValue(parsing: cipher.decrypt(envelope))
        #expect((location["t"], location["topic"]) == ("r", "owntracks/jane/hall"))
        #expect(gateway.says("refused") || gateway.says("not encrypted"), "\(gateway.log)")
        #expect(try gateway.ask("regions", "list").contains("Kitchen"))
    }

    @Test func `Each tracker posts in its own name, and is commanded by the answers to its own messages`() throws {
        let endpoint = try ScriptedEndpoint { request in
            .status(
                200,
                request.headers["x-limit-d"] == "keys" && request.text.contains("enter")
                    ? "[\(Self.command("waypoints"))]" : "[]")
        }
        defer { endpoint.close() }
        let keys = GatewayFixture.waypoint("own", "Keys")
        let gateway = try gateway(
            endpoint.url, "trackers: [{deviceId: \"keys\", username: \"ann\", tid: \"K1\", waypoints: [\(keys)]}]",
            air: GatewayFixture.stay)
        try gateway.start()
        #expect(eventually { json(endpoint).contains { $0["_type"] == "waypoints" } }, "\(gateway.log)")
        let answer = try #require(json(endpoint).first { $0["_type"] == "waypoints" })
        #expect(answer["topic"] == "owntracks/ann/keys/waypoints")
        #expect(GatewayFixture.names(answer) == ["own=Keys"])
        for request in endpoint.messages {
            let topic = try JSONValue(parsing: request.body)["topic"]?.string ?? ""
            let name = "owntracks/\(request.headers["x-limit-u"] ?? "?")/\(request.headers["x-limit-d"] ?? "?")"
            #expect(topic.hasPrefix(name), "\(topic) in the name of \(name)")
        }
    }

    @Test func `New settings come with an answer, and are kept; an address without a server is taken back`() throws {
        func set(_ members: String) -> String {
            "[{\"_type\":\"cmd\",\"action\":\"setConfiguration\",\"configuration\":{\"_type\":\"configuration\",\(members)}}]"
        }
        let place = try LoopbackPort.Listener(listens: false)
        let nobody = "http://127.0.0.1:\(place.port)/pub"
        let (first, second) = (set("\"tag\":\"attic\""), set("\"url\":\"\(nobody)\",\"tag\":\"lost\""))
        let endpoint = try ScriptedEndpoint { request in
            .status(
                200,
                request.text.contains("enter")
                    ? second
                    : request.body.isEmpty
                        ? "[]" : request.text.contains("\"desc\":\"Kitchen\",\"event\":\"leave\"") ? first : "[]")
        }
        defer { endpoint.close() }
        let gateway = try gateway(
            endpoint.url, "remoteConfiguration: true, remoteConfigurationTrial: 8", air: GatewayFixture.demo)
        try gateway.start()
        #expect(gateway.says("back to the old settings"), "\(gateway.log)")
        #expect(gateway.says("the new settings are kept"), "\(gateway.log)")
        #expect(eventually { events(endpoint).contains("leave") })
        #expect(try gateway.asked("report", until: "attic").contains("\"tag\":\"attic\""))
    }

    @Test func `An .otrc that an app made in HTTP mode is taken as it is`() throws {
        let endpoint = try ScriptedEndpoint()
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "")
        let text = """
            {"_type":"configuration","mode":3,"deviceId":"hall","tid":"jh","url":"\(endpoint.url)","httpHeaders":"",
             "encryptionKey":"","username":"jane","password":"secret","auth":true,"usePassword":true,"monitoring":1,
             "host":"","port":8883,"tls":true,"cmd":true,"days":-1,"positions":50,"extendedData":true,"locked":false,
             "scanner":{"capture":"\(GatewayProcess.fixtures)/demo.btsnoop","speed":4},"leaveAfter":3,"http":null,
             "waypoints":[\(GatewayFixture.waypoint("k", "Kitchen"))]}
            """
        try gateway.directory.write(text, to: "config.json")
        #expect(try gateway.ask("config", "check").contains("is valid"))
        try gateway.start()
        #expect(eventually { events(endpoint) == ["enter", "leave"] }, "\(gateway.log)")
        #expect(endpoint.requests.allSatisfy { $0.headers["authorization"]?.hasPrefix("Basic ") == true })
    }

    @Test func `report posts a location by hand, and says so where it cannot`() throws {
        let endpoint = try ScriptedEndpoint()
        let gateway = try gateway(endpoint.url, "")
        _ = try gateway.ask("report", "--poi", "lunch")
        #expect(json(endpoint).map { $0["poi"] } == ["lunch"])
        #expect(json(endpoint).first?["topic"] == "owntracks/jane/hall")
        endpoint.reply { _ in .status(403) }
        let process = try ChildProcess(
            try GatewayProcess.program, gateway.arguments + ["report"], output: gateway.directory.file("report.log"))
        #expect(process.wait() == 69)
        let said = String(decoding: try gateway.directory.read("report.log"), as: UTF8.self)
        #expect(said.contains("the server answers 403"), "\(said)")
        endpoint.close()
    }

    @Test func `doctor tells a server that is well from each way in which it is not`() throws {
        let endpoint = try ScriptedEndpoint()
        let gateway = try gateway(endpoint.url, "")
        func examine() throws -> String {
            let output = gateway.directory.file("doctor")
            try gateway.directory.write("", to: "doctor")
            try ChildProcess(try GatewayProcess.program, gateway.arguments + ["doctor"], output: output).wait()
            return String(decoding: try gateway.directory.read("doctor"), as: UTF8.self)
        }
        let well = try examine()
        #expect(well.contains("answers, without a login") && well.contains("all is well"), "\(well)")
        #expect(well.contains("libcurl/"))
        for (status, words) in [
            (401, "\"passwordFile\""), (404, "/pub"), (302, "final address"), (500, "the server's log"),
        ] {
            endpoint.reply { _ in .status(status) }
            let said = try examine()
            #expect(said.contains("BAD  server") && said.contains("\(status)") && said.contains(words), "\(said)")
        }
        endpoint.close()
        #expect(eventually { !LoopbackPort.answers(endpoint.port) })
        let gone = try examine()
        #expect(gone.contains("the server cannot be reached") && gone.contains("check that the server runs"), "\(gone)")
    }

    @Test func `status shows where messages are posted, and what is wrong there`() throws {
        let page = try LoopbackPort.free()
        let endpoint = try ScriptedEndpoint { _ in .status(503) }
        defer { endpoint.close() }
        let gateway = try GatewayProcess(
            "mode: 3, url: \"http://jane:hunter2@127.0.0.1:\(endpoint.port)/secret-path\", \(Self.place), \(Self.silence)",
            port: 1,
            http: "{listen: \"127.0.0.1:\(page)\"}")
        try gateway.start()
        #expect(eventually { (try? gateway.ask("status").contains("503")) == true }, "\(gateway.log)")
        let bad = try gateway.ask("status")
        #expect(
            bad.contains("http://127.0.0.1:\(endpoint.port)") && !bad.contains("hunter2")
                && !bad.contains("secret-path"), "\(bad)")
        endpoint.reply { _ in .status(200) }
        #expect(
            eventually {
                (try? gateway.ask("status").contains("connected")) == true && gateway.log.contains("connected to")
            })
        #expect(!gateway.log.contains("hunter2"))
    }

    @Test func `Stopping is prompt though the server does not answer`() throws {
        let endpoint = try ScriptedEndpoint { $0.body.isEmpty ? .status(200) : .silence }
        defer { endpoint.close() }
        let gateway = try gateway(endpoint.url, "", air: GatewayFixture.stay)
        try gateway.start()
        #expect(eventually { endpoint.messages.count == 1 })
        let start = ContinuousClock.now
        #expect(gateway.stop() == 0)
        // The request itself would be given up after 30 s.
        #expect(start.duration(to: .now) < .seconds(25))
    }

    @Test func `libcurl is loaded in HTTP mode alone`() throws {
        let endpoint = try ScriptedEndpoint()
        defer { endpoint.close() }
        let http = try gateway(endpoint.url, "")
        try http.start()
        #expect(eventually { !endpoint.requests.isEmpty })
        func libraries(of gateway: GatewayProcess) throws -> String {
            try run("cat", ["/proc/\(try #require(gateway.process).pid)/maps"])
        }
        #expect(try libraries(of: http).contains("libcurl"))
        let house = try GatewayFixture()
        #expect(try !libraries(of: house.gateway).contains("libcurl"))
    }
}
