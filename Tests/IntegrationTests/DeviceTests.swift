import JSON
import OwnTracks
import TestSupport
import Testing

/// What makes a gateway an OwnTracks device, seen from the broker.
@Suite struct DeviceTests {
    private static let kitchen = GatewayFixture.waypoint("k", "Kitchen")

    @Test func `A retained command is refused, but for setWaypoints, which may come again`() throws {
        let house = try GatewayFixture("lat: 52, lon: 6, \(GatewayFixture.quiet)", starts: false)
        let answers = { house.published().filter { $0.contains(#""t":"r""#) } }
        try house.send(#"{"_type":"cmd","action":"reportLocation"}"#, retained: true)
        try house.start()
        #expect(house.gateway.says("the broker had retained it"))
        try house.setWaypoints([Self.kitchen], retained: true)
        try house.killAndStart()
        #expect(try house.regions() == ["k=Kitchen"])
        #expect(answers().isEmpty)
    }

    @Test func `restart and unknown actions are refused with a reason, counted, and answered nowhere`() throws {
        let house = try GatewayFixture()
        try house.command("restart")
        #expect(house.gateway.says("'restart' is not supported: the service cannot be restarted remotely"))
        try house.command("explode")
        try house.send(#"{"_type":"cmd"}"#)
        #expect(try house.counter("commandsRefused") == 3)
        let topics = Set(house.witness.lines.map(\.topic).filter { $0.hasPrefix("owntracks/") })
        #expect(topics == ["\(house.base)/status"])
    }

    @Test func `dump tells the settings on its own topic, secrets masked`() throws {
        let house = try GatewayFixture("password: \"hunter2\", \(GatewayFixture.quiet)")
        let dump = try house.answer(on: "dump") { try house.command("dump") }
        #expect(dump["_type"] == "dump")
        #expect(dump["configuration"]?["deviceId"] == "hall")
        #expect(!dump.text.contains("hunter2"))
    }

    @Test func `A circle that the gateway stands in is in inregions, and one elsewhere is not`() throws {
        let circles = [
            #"{"_type":"waypoint","tst":1,"rid":"home","desc":"Home","lat":52.0004,"lon":6,"rad":100}"#,
            #"{"_type":"waypoint","tst":2,"rid":"work","desc":"Work","lat":52.1,"lon":6,"rad":100}"#,
        ]
        let house = try GatewayFixture("lat: 52, lon: 6, \(GatewayFixture.quiet)")
        try house.setWaypoints(circles)
        // The circle is entered when it comes, and a location follows that transition.
        #expect(eventually { house.published().contains { $0.contains(#""t":"c""#) } })
        let location = try house.answer(on: "") { try house.command("reportLocation") }
        #expect(location["inregions"] == ["Home"])
        #expect(location["inrids"] == ["home"])
        #expect(location["t"] == "r")
    }

    @Test func `A quiet gateway tells no region events, and keeps them in its history`() throws {
        let house = try GatewayFixture(
            "monitoring: -1, lat: 52, lon: 6, waypoints: [\(Self.kitchen)], \(GatewayFixture.demo)")
        #expect(house.gateway.says("left Kitchen"), "\(house.gateway.log)")
        #expect(house.published("event").isEmpty)
        #expect(house.published().isEmpty)
        #expect(eventually { (try? house.gateway.ask("history", "--json").split(separator: "\n").count) == 2 })
    }

    @Test func `Name|1|2 changes the monitoring mode, which outlives kill -9`() throws {
        let house = try GatewayFixture(
            "waypoints: [\(GatewayFixture.waypoint("k", "Kitchen|2|0"))], \(GatewayFixture.demo)")
        let monitoring = {
            try house.answer(on: "status") { try house.command("status") }["gateway"]?["monitoring"]?.asInteger
        }
        #expect(house.gateway.says("left Kitchen"), "\(house.gateway.log)")
        #expect(house.published("event").allSatisfy { $0.contains(#""desc":"Kitchen""#) })
        #expect(try monitoring() == 0)
        // What was written later is on the disk, so the mode is.
        #expect(eventually { (try? house.gateway.history()) == ["Kitchen": ["enter", "leave"]] })
        house.gateway.kill()
        try house.gateway.configure(
            "waypoints: [\(GatewayFixture.waypoint("k", "Kitchen|2|0"))], \(GatewayFixture.quiet)",
            port: house.broker.port)
        try house.start()
        // The answer from before may come once more, and counts as the first.
        _ = try monitoring()
        #expect(try monitoring() == 0)
    }

    @Test func `A card that is configured is retained on info`() throws {
        let house = try GatewayFixture("card: {name: \"Hall\", face: \"aGVsbG8=\"}, \(GatewayFixture.quiet)")
        #expect(eventually { house.published("info").count == 1 }, "\(house.gateway.log)")
        #expect(house.published("info") == [#"{"_type":"card","face":"aGVsbG8=","name":"Hall","tid":"jh"}"#])
        let late = try Subscriber(to: house.broker, topic: "\(house.base)/info")
        #expect(eventually { late.lines.map(\.retained) == [true] })
    }

    @Test func `Ranging tells distances on beacon, and nothing without it`() throws {
        let settings = "waypoints: [\(Self.kitchen)], \(GatewayFixture.demo)"
        let house = try GatewayFixture("ranging: true, \(settings)")
        #expect(eventually { !house.published("beacon").isEmpty }, "\(house.gateway.log)")
        let message = try JSONValue(parsing: try #require(house.published("beacon").first))
        #expect(message["uuid"] == .string(GatewayFixture.uuid))
        #expect((message["major"], message["minor"]) == (1, 7))
        #expect(message["desc"] == "Kitchen")
        #expect((1...3).contains(message["prox"]?.asInteger ?? 0))
        let silent = try GatewayFixture(settings)
        #expect(silent.gateway.says("left Kitchen"))
        #expect(silent.published("beacon").isEmpty)
    }

    @Test func `Each tracker is a device of its own: topic, tid, regions, commands, key, away`() throws {
        let house = try GatewayFixture(
            """
            lat: 52, lon: 6, waypoints: [\(Self.kitchen)],
            trackers: [{deviceId: "keys", tid: "K1", away: {lat: 53, lon: 7}, waypoints: [\(GatewayFixture.waypoint("k", "Keys"))]},
                       {deviceId: "bag", tid: "B1", encryptionKey: "secret", waypoints: []}], \(GatewayFixture.demo)
            """)
        #expect(house.gateway.says("left Keys"), "\(house.gateway.log)")
        let keys = "owntracks/jane/keys"
        #expect(eventually { house.published(on: "\(keys)/event").count == 2 && house.published("event").count == 2 })
        #expect(
            house.published(on: "\(keys)/event").allSatisfy {
                $0.contains(#""desc":"Keys""#) && $0.contains(#""tid":"K1""#)
            }
        )
        #expect(
            house.published("event").allSatisfy { $0.contains(#""desc":"Kitchen""#) && $0.contains(#""tid":"jh""#) })
        #expect(house.published(on: "\(keys)/event").map { $0.contains(#""lat":53"#) } == [false, true])
        #expect(house.published("event").allSatisfy { $0.contains(#""lat":52"#) })
        try house.send(#"{"_type":"cmd","action":"clearWaypoints"}"#, to: "\(keys)/cmd")
        try house.send(#"{"_type":"cmd","action":"waypoints"}"#, to: "\(keys)/cmd")
        #expect(eventually { house.published(on: "\(keys)/waypoints") == [#"{"_type":"waypoints","waypoints":[]}"#] })
        #expect(try house.regions() == ["k=Kitchen"])
        try house.send(#"{"_type":"cmd","action":"waypoints"}"#, to: "owntracks/jane/bag/cmd")
        #expect(house.gateway.says("command on owntracks/jane/bag/cmd refused: it came unencrypted"))
    }

    @Test func `With port 0 nothing is sent, and everything is in the history`() throws {
        let gateway = try GatewayProcess("waypoints: [\(Self.kitchen)], \(GatewayFixture.demo)", port: 0)
        try gateway.start()
        #expect(gateway.says("offline (port 0)"))
        #expect(gateway.says("left Kitchen"), "\(gateway.log)")
        #expect(gateway.stop() == 0)
        let history = try gateway.ask("history", "--json").split(separator: "\n")
        #expect(history.count == 2)
        #expect(!gateway.log.contains("no broker"))
    }

    @Test func `A broker that has forgotten everything is told who is where again`() throws {
        let house = try GatewayFixture("reannounce: true, waypoints: [\(Self.kitchen)], \(GatewayFixture.stay)")
        #expect(eventually { house.published("event").count == 1 }, "\(house.gateway.log)")
        house.broker.stop(abruptly: true)
        try house.broker.restart()
        // A witness might come too late; the broker's own log does not.
        let received = { (topic: String) in
            house.broker.log.split(separator: "\n").count {
                $0.contains("Received PUBLISH from janehall") && $0.contains("'\(topic)'")
            }
        }
        #expect(eventually { received("\(house.base)/event") == 2 }, "\(house.gateway.log)")
        #expect(eventually { received("ibeacon-gateway/hall/region/k") > 1 })
    }

    @Test(arguments: [true, false])
    func `When Home Assistant has started, enters are told again if that is asked for`(isAsked: Bool) throws {
        let house = try GatewayFixture(
            """
            reannounce: \(isAsked), homeAssistant: {discovery: true}, waypoints: [\(Self.kitchen)], \(GatewayFixture.stay)
            """)
        #expect(eventually { house.published("event").count == 1 }, "\(house.gateway.log)")
        let state = "ibeacon-gateway/hall/region/k"
        let before = house.published(on: state).count
        try house.send("online", to: "homeassistant/status")
        // The retained state comes again in either case.
        #expect(eventually { house.published(on: state).count > before })
        // The answer to a later command is behind what the start of Home Assistant brings.
        _ = try house.counter("commands")
        #expect(house.published("event").count == (isAsked ? 2 : 1))
        let times = house.published("event").compactMap { try? JSONValue(parsing: $0)["tst"] }
        #expect(Set(times).count == 1)
    }
}
