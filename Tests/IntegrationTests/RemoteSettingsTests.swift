import Glibc
import JSON
import OwnTracks
import TestSupport
import Testing

/// `setConfiguration` against a real broker.
@Suite struct RemoteConfigurationTests {
    /// - Parameter trial: Seconds. Settings with which a broker is reached are kept as soon as it is, however busy the machine is.
    private func house(_ members: String = "", trial: Double = 120) throws -> GatewayFixture {
        try GatewayFixture(
            "remoteConfiguration: true, remoteConfigurationTrial: \(trial), lat: 52, lon: 6, \(members)\(GatewayFixture.quiet)"
        )
    }

    private func set(_ members: String, on house: GatewayFixture, beside: String = "") throws {
        try house.send(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration",\#(members)}\#(beside)}"#
        )
    }

    private func tag(of house: GatewayFixture) throws -> JSONValue? {
        try house.answer(on: "") { try house.command("reportLocation") }["tag"]
    }

    /// The same of a gateway that was killed: answers from before may come once more, and are let pass.
    private func tagAfterKill(of house: GatewayFixture) throws -> JSONValue? {
        for _ in 1...3 { _ = try tag(of: house) }
        return try tag(of: house)
    }

    @Test func `New settings are in force at once and after kill -9`() throws {
        let house = try house()
        #expect(try tag(of: house) == nil)
        try set(#""tag":"attic""#, on: house)
        #expect(house.gateway.says("the new settings are kept"))
        #expect(try tag(of: house) == "attic")
        try house.killAndStart()
        #expect(try tagAfterKill(of: house) == "attic")
        try set(#""tag":null"#, on: house)
        #expect(eventually { house.gateway.log.split(separator: "are kept").count == 3 })
        #expect(try tag(of: house) == nil)
    }

    @Test func `config show tells what is in force, and a person who may not read the state what the file says`() throws
    {
        let house = try house()
        try set(#""tag":"attic""#, on: house)
        #expect(house.gateway.says("the new settings are kept"))
        #expect(try house.gateway.asked("config", "show", until: #""tag":"attic""#).contains(#""tag":"attic""#))
        #expect(try house.gateway.asked("config", "show", until: "from setConfiguration, not from the file: tag") != "")
        let file = ["--config", house.gateway.directory.file("config.json"), "--state-dir", "/nonexistent"]
        let shown = try run(try GatewayProcess.program, file + ["config", "show"])
        #expect(shown.contains(#""tag":null"#), "\(shown)")
    }

    @Test func `Settings with which no broker is reached are taken back, and forgotten`() throws {
        let house = try house(trial: 1.5)
        let nobody = try LoopbackPort.free()
        try set(#""port":\#(nobody),"tag":"lost""#, on: house)
        #expect(house.gateway.says("no broker within 1.50 s; back to the old settings"), "\(house.gateway.log)")
        #expect(eventually { house.subscriptions >= 2 })
        #expect(try tag(of: house) == nil)
        try house.killAndStart()
        #expect(try tagAfterKill(of: house) == nil)
    }

    @Test func `A login that the broker refuses is taken back, too`() throws {
        let directory = try TemporaryDirectory()
        let passwords = directory.file("passwords")
        try run("mosquitto_passwd", ["-b", "-c", passwords, "jane", "right"])
        let broker = try MosquittoBroker(["allow_anonymous true", "password_file \(passwords)"], in: directory)
        let house = try GatewayFixture(
            "remoteConfiguration: true, remoteConfigurationTrial: 1.5, password: \"right\", lat: 52, lon: 6, \(GatewayFixture.quiet)",
            broker: broker)
        #expect(try tag(of: house) == nil)
        try set(#""password":"wrong","tag":"lost""#, on: house)
        #expect(house.gateway.says("back to the old settings", within: .seconds(180)), "\(house.gateway.log)")
        #expect(try tag(of: house) == nil)
    }

    @Test func `A gateway that is killed while it tries settings begins with the old ones`() throws {
        let house = try house()
        try set(#""port":\#(try LoopbackPort.free()),"tag":"lost""#, on: house)
        #expect(house.gateway.says("trying new settings"))
        try house.killAndStart()
        #expect(try tagAfterKill(of: house) == nil)
    }

    @Test func `One bad member, and nothing of it is taken, neither its good members nor its regions`() throws {
        let house = try house()
        let list = #""waypoints":{"_type":"waypoints","waypoints":[\#(GatewayFixture.waypoint("k", "K"))]}"#
        try set(#""tag":"attic","monitoring":7,"scanner":"hci""#, on: house, beside: ",\(list)")
        let refused = "command on \(house.base)/cmd refused: setConfiguration"
        #expect(house.gateway.says("\(refused): monitoring"))
        #expect(house.gateway.says("\(refused): scanner: it cannot be set remotely"))
        #expect(try tag(of: house) == nil)
        #expect(try house.regions() == [])
    }

    @Test func `Regions inside the settings and beside them are merged once`() throws {
        let house = try house()
        let list = #","waypoints":{"_type":"waypoints","waypoints":[\#(GatewayFixture.waypoint("b", "beside"))]}"#
        try set(#""waypoints":[\#(GatewayFixture.waypoint("i", "inside"))]"#, on: house, beside: list)
        #expect(house.gateway.says("the new settings are kept"))
        #expect(try house.regions() == ["i=inside", "b=beside"])
        try house.command("clearWaypoints")
        #expect(try house.regions() == [])
        try house.killAndStart()
        #expect(try house.regions() == [])
    }

    @Test func `Another topic takes the regions along`() throws {
        let house = try house("waypoints: [], ")
        try house.setWaypoints([GatewayFixture.waypoint("k", "K")])
        #expect(try house.regions() == ["k=K"])
        // It has a connection of its own, which may be the later one; who never came need not go.
        #expect(eventually { house.published(on: "ibeacon-gateway/hall/availability").last == "online" })
        try set(#""deviceId":"attic""#, on: house)
        #expect(house.gateway.says("the new settings are kept"))
        // The old device goes as it would if it was stopped.
        #expect(eventually { house.published(on: "ibeacon-gateway/hall/availability").last == "offline" })
        #expect(eventually { house.published(on: "ibeacon-gateway/hall/region/k").last == "" })
        #expect(eventually { house.published(on: "ibeacon-gateway/attic/availability").last == "online" })
        house.gateway.kill()
        try house.gateway.start()
        let topic = "owntracks/jane/attic"
        #expect(
            eventually {
                try? house.send(#"{"_type":"cmd","action":"waypoints"}"#, to: "\(topic)/cmd")
                return house.published(on: "\(topic)/waypoints").last?.contains(#""rid":"k""#) == true
            }, "\(house.gateway.log)")
    }

    @Test func `Another broker does not get the password of the first`() throws {
        let other = try MosquittoBroker()
        defer { other.stop() }
        let house = try GatewayFixture(
            "remoteConfiguration: true, password: \"the secret\", lat: 52, lon: 6, \(GatewayFixture.quiet)")
        // mosquitto's log has the user name, without which MQTT 3.1.1 knows no password.
        #expect(house.broker.log.contains("u'jane'"))
        try set(#""host":"127.0.0.1","port":\#(other.port)"#, on: house)
        #expect(house.gateway.says("the new settings are kept"), "\(house.gateway.log)")
        #expect(other.log.contains("as janehall ("))
        #expect(!other.log.contains("u'jane'"))
    }

    @Test func `Switched off in the file, remote settings are named and forgotten, without their values`() throws {
        let house = try house()
        try set(#""password":"the secret","tag":"attic""#, on: house)
        #expect(house.gateway.says("the new settings are kept"))
        let members = "lat: 52, lon: 6, \(GatewayFixture.quiet)"
        try house.gateway.configure("remoteConfiguration: true, \(members)", port: house.broker.port)
        house.gateway.process?.send(SIGHUP)
        #expect(house.gateway.says("from setConfiguration, not from the file: password, tag"), "\(house.gateway.log)")
        try house.gateway.configure(members, port: house.broker.port)
        house.gateway.process?.send(SIGHUP)
        #expect(
            house.gateway.says("forgot from setConfiguration: password, tag: 'remoteConfiguration' is false"),
            "\(house.gateway.log)")
        #expect(try tag(of: house) == nil)
        #expect(!house.gateway.log.contains("the secret"))
    }

    @Test func `Without remoteConfiguration it is refused`() throws {
        let house = try GatewayFixture("lat: 52, lon: 6, \(GatewayFixture.quiet)")
        try set(#""tag":"attic""#, on: house)
        #expect(house.gateway.says("'remoteConfiguration' is false"))
        #expect(try tag(of: house) == nil)
    }
}
