import Glibc
import TestSupport
import Testing

/// What `doctor` says of real brokers and of files as people have them.
@Suite struct DoctorTests {
    private static let kitchen = #"""
        {_type: "waypoint", tst: 1600000000, rid: "k", desc: "Kitchen:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7"}
        """#
    private static let recording = "scanner: {capture: \"\(GatewayProcess.fixtures)/demo.btsnoop\"}"
    private static let sound = "\(recording), waypoints: [\(kitchen)]"

    private struct Verdict {
        let code: Int32
        let text: String

        func says(_ words: String...) -> Bool { words.allSatisfy { text.contains($0) } }
        /// Lines that begin with BAD.
        var bad: [Substring] { text.split(separator: "\n").filter { $0.hasPrefix("BAD") } }
    }

    private static func examine(_ gateway: GatewayProcess, _ options: String...) throws -> Verdict {
        let output = gateway.directory.file("doctor")
        let process = try ChildProcess(
            try GatewayProcess.program, gateway.arguments + ["doctor"] + options, output: output)
        let code = process.wait()
        return Verdict(code: code, text: String(decoding: try gateway.directory.read("doctor"), as: UTF8.self))
    }

    private static func examine(_ members: String, port: UInt16, _ options: String...) throws -> Verdict {
        try examine(try GatewayProcess(members, port: port), options.first ?? "--verbose")
    }

    @Test func `Where all is well, it says so and ends with 0`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let verdict = try Self.examine(Self.sound, port: broker.port)
        #expect(verdict.code == 0, "\(verdict.text)")
        #expect(
            verdict.says(
                "all is well", "accepts connections", "connected as 'jane'", "client id is 'janehall'",
                "keep-alive 60 s", "cmd arrive", "one beacon region")
        )
    }

    @Test func `A page that another program leaves no port is told by doctor, status and status --link, with why`()
        throws
    {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let gateway = try GatewayProcess(Self.sound, port: broker.port, http: "{listen: \"127.0.0.1:\(broker.port)\"}")
        try gateway.start()
        #expect(gateway.says("is running: "), "\(gateway.log)")
        let reason = "the status page cannot listen on 127.0.0.1:\(broker.port): Address already in use"
        let status = try gateway.ask("status")
        #expect(status.contains("warning: \(reason)\n    -> another program listens there: sudo ss -ltnp"), "\(status)")
        let link = try gateway.say("status", "--link")
        #expect(link.contains("no page is served that a link could open: \(reason) -> another program"), "\(link)")
        let verdict = try Self.examine(gateway, "--listen", "0")
        #expect(
            verdict.code == 69 && verdict.says("BAD  service        the service says: \(reason)"), "\(verdict.text)")
        #expect(gateway.stop() == 0)
    }

    @Test func `A scan duty with bluez is found, because bluez cannot set it`() throws {
        let gateway = try GatewayProcess(
            "scanner: \"bluez\", scanDuty: 0.25, waypoints: [\(Self.kitchen)]", port: try LoopbackPort.free())
        let verdict = try Self.examine(gateway, "--listen", "0")
        #expect(verdict.says("scanner \"bluez\" cannot set scanDuty", "scanner \"mgmt\" or \"hci\""), "\(verdict.text)")
    }

    @Test func `The keep-alive is the one that the service uses, also where it came from afar`() throws {
        let house = try GatewayFixture(
            "remoteConfiguration: true, keepalive: 30, waypoints: [\(Self.kitchen)], \(GatewayFixture.quiet)")
        try house.send(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","keepalive":45}}"#)
        #expect(house.gateway.says("the new settings are kept"), "\(house.gateway.log)")
        let verdict = try Self.examine(house.gateway)
        #expect(verdict.says("client id is 'janehall', its keep-alive 45 s"), "\(verdict.text)")
        #expect(verdict.says("from setConfiguration, not from the file: keepalive"), "\(verdict.text)")
    }

    @Test func `A broker that does not run is named, with what to do`() throws {
        let verdict = try Self.examine(Self.sound, port: try LoopbackPort.free())
        #expect(verdict.code == 69)
        #expect(verdict.says("Connection refused", "is a broker installed and running?", "one problem to fix"))
    }

    @Test func `A name without an address is told from a broker that does not answer`() throws {
        let gateway = try GatewayProcess("", port: 1883)
        try gateway.configure(Self.sound, port: 1883, host: "broker.invalid")
        let verdict = try Self.examine(gateway, "--verbose")
        #expect(verdict.bad.count == 1, "\(verdict.text)")
        #expect(verdict.says("'broker.invalid' has no address", "check \"host\""))
    }

    @Test func `A wrong password is told from no login at all`() throws {
        let directory = try TemporaryDirectory()
        try run("mosquitto_passwd", ["-b", "-c", directory.file("passwords"), "jane", "right"])
        let broker = try MosquittoBroker(
            ["allow_anonymous false", "password_file \(directory.file("passwords"))"], in: directory)
        defer { broker.stop() }
        let wrong = try Self.examine("\(Self.sound), password: \"wrong\"", port: broker.port)
        #expect(wrong.says("BAD  broker", "check \"username\" and the password"), "\(wrong.text)")
        #expect(!wrong.text.contains("wrong\""))
        let none = try Self.examine("\(Self.sound), auth: false", port: broker.port)
        #expect(none.says("BAD  broker", "requires a login", "mosquitto_passwd"), "\(none.text)")
        let right = try Self.examine("\(Self.sound), password: \"right\"", port: broker.port)
        #expect(right.code == 0, "\(right.text)")
    }

    @Test func `Rights that are missing are found, to write and to read`() throws {
        let directory = try TemporaryDirectory()
        let access = try directory.write("user jane\ntopic write owntracks/jane/hall/cmd\n", to: "access")
        let broker = try MosquittoBroker(["allow_anonymous true", "acl_file \(access)"], in: directory)
        defer { broker.stop() }
        let verdict = try Self.examine(Self.sound, port: broker.port)
        #expect(verdict.code == 69)
        #expect(
            verdict.says(
                "messages to owntracks/jane/hall/event are refused: not authorised",
                "messages to owntracks/jane/hall are refused", "commands on owntracks/jane/hall/cmd do not arrive",
                "topic readwrite owntracks/jane/hall/#", "messages to ibeacon-gateway/hall/region/doctor are refused",
                "topic write ibeacon-gateway/hall/#"), "\(verdict.text)")
        #expect(verdict.bad.count == 4, "\(verdict.text)")
    }

    @Test func `A message that the broker refused is a problem for a day, and after that a remark`() throws {
        let directory = try TemporaryDirectory()
        let rights = "topic readwrite #\nuser jane\ntopic readwrite owntracks/jane/hall/#\n"
        let access = try directory.write(rights, to: "access")
        let broker = try MosquittoBroker(["allow_anonymous true", "acl_file \(access)"], in: directory)
        defer { broker.stop() }
        let house = try GatewayFixture("waypoints: [\(Self.kitchen)], \(GatewayFixture.quiet)", broker: broker)
        #expect(house.gateway.says("a message is set aside"), "\(house.gateway.log)")
        #expect(house.gateway.stop() == 0)
        try directory.write("topic readwrite #\nuser jane\ntopic readwrite #\n", to: "access")
        broker.reload()
        let fresh = try Self.examine(house.gateway)
        #expect(fresh.code == 69 && fresh.bad.count == 1, "\(fresh.text)")
        #expect(fresh.says("BAD  disk", "in the last day, the latest: the broker refuses it: not authorised"))
        let output = house.gateway.directory.file("later")
        let later = try ChildProcess(
            try GatewayProcess.program, house.gateway.arguments + ["doctor", "--verbose"], output: output,
            environment: [
                "LD_PRELOAD=\(try GatewayProcess.directoryOfTests)/libFalseClock.so",
                "FALSE_CLOCK=\(try house.gateway.directory.write("\(2 * 86_400)", to: "offset"))",
            ])
        let code = later.wait()
        let text = String(decoding: try house.gateway.directory.read("later"), as: UTF8.self)
        #expect(code == 0, "\(text)")
        #expect(text.contains("none in the last day, the latest: the broker refuses it: not authorised"), "\(text)")
        #expect(text.contains("-> if it still refuses such messages: fix the reason"), "\(text)")
    }

    @Test func `Rights that only a rooms service needs are missed only where there is one`() throws {
        let directory = try TemporaryDirectory()
        let rights = "topic readwrite owntracks/jane/hall/#\ntopic write ibeacon-gateway/hall/#\n"
        let list = "topic read ibeacon-rooms/home/tags\n"
        let access = try directory.write(
            "user jane\n\(rights)\(list)user service\ntopic readwrite #\n", to: "access")
        let broker = try MosquittoBroker(["allow_anonymous true", "acl_file \(access)"], in: directory)
        defer { broker.stop() }
        let alone = try Self.examine(Self.sound, port: broker.port)
        #expect(alone.code == 0)
        #expect(alone.says("no rooms service lists tags on ibeacon-rooms/home/tags"), "\(alone.text)")
        try run(
            "mosquitto_pub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-u", "service", "-r", "-t", "ibeacon-rooms/home/tags", "-m",
                #"{"v":1,"tags":[]}"#,
            ])
        let refused = try Self.examine(Self.sound, port: broker.port)
        #expect(refused.says("messages to ibeacon-rooms/home/heard/hall are refused"), "\(refused.text)")
        #expect(refused.bad.count == 1)
        try directory.write(
            "user jane\n\(rights)\(list)topic write ibeacon-rooms/home/heard/hall\n", to: "access")
        broker.reload()
        let sound = try Self.examine(Self.sound, port: broker.port)
        #expect(sound.code == 0)
        #expect(sound.says("readings go to ibeacon-rooms/home/heard/hall"), "\(sound.text)")
    }

    @Test(
        "The access list that acl prints is enough",
        arguments: [
            "", ", homeAssistant: {discovery: true, prefix: \"ha\"}", ", cmd: false",
            ", trackers: [{deviceId: \"anna\"}]",
            ", rooms: {site: \"home\", encryptionKey: \"of the site\"}",
        ])
    func listed(members: String) throws {
        let directory = try TemporaryDirectory()
        // The list does not depend on the port, and the broker has none yet.
        let gateway = try GatewayProcess(Self.sound + members, port: 1883)
        let list = try run(try GatewayProcess.program, gateway.arguments + ["acl"])
        let access = try directory.write(list, to: "access")
        let broker = try MosquittoBroker(["allow_anonymous true", "acl_file \(access)"], in: directory)
        defer { broker.stop() }
        let verdict = try Self.examine(Self.sound + members, port: broker.port)
        #expect(verdict.code == 0 && verdict.bad.isEmpty, "\(verdict.text)")
    }

    @Test func `The access list of a fleet is enough for each of its gateways, and gives none the topics of another`()
        throws
    {
        let members = "\(Self.sound), rooms: {site: \"home\"}, homeAssistant: {discovery: true}"
        let directory = try TemporaryDirectory()
        let template = try GatewayProcess(members, port: 1883)
        let list = try run(
            try GatewayProcess.program, template.arguments + ["acl", "--gateways", "jane,hall"])
        let access = try directory.write(list, to: "access")
        let broker = try MosquittoBroker(["allow_anonymous true", "acl_file \(access)"], in: directory)
        defer { broker.stop() }
        let own = try Self.examine(try GatewayProcess(members, port: broker.port, device: "jane"), "--verbose")
        #expect(own.code == 0 && own.bad.isEmpty, "\(own.text)")
        let other = try Self.examine(try GatewayProcess(members, port: broker.port, device: "hall"), "--verbose")
        #expect(other.says("messages to owntracks/jane/hall/event are refused"), "\(other.text)")
    }

    @Test func `TLS that is missing on one side is found on both`() throws {
        let certificates = try Certificates()
        let secure = try MosquittoBroker(MosquittoBroker.tls(try certificates.issue("broker")))
        defer { secure.stop() }
        let plain = try MosquittoBroker()
        defer { plain.stop() }
        let withoutTLS = try Self.examine(Self.sound, port: secure.port)
        #expect(withoutTLS.says("BAD  broker", "\"tls\": true"), "\(withoutTLS.text)")
        let withTLS = try Self.examine("\(Self.sound), tls: true", port: plain.port)
        #expect(withTLS.says("BAD  broker"), "\(withTLS.text)")
        let unknown = try Self.examine("\(Self.sound), tls: true", port: secure.port)
        #expect(unknown.says("BAD  broker", "TLS failed", "\"caFile\""), "\(unknown.text)")
        let known = try Self.examine(
            "\(Self.sound), tls: true, caFile: \"\(certificates.authority)\"", port: secure.port)
        #expect(known.code == 0, "\(known.text)")
    }

    @Test func `Each mistake with TLS has advice of its own`() throws {
        let certificates = try Certificates()
        let directory = try TemporaryDirectory()
        let pair = try certificates.issue("broker", names: "DNS:broker.lan,IP:10.0.0.1")
        let secure = try MosquittoBroker(MosquittoBroker.tls(pair))
        defer { secure.stop() }
        let plain = try MosquittoBroker()
        defer { plain.stop() }
        let trusting = "\(Self.sound), tls: true, caFile: \"\(certificates.authority)\""
        let misnamed = try Self.examine(trusting, port: secure.port)
        #expect(
            misnamed.says("not for this host name", "is for broker.lan, 10.0.0.1", "one of the names"),
            "\(misnamed.text)")
        let stranger = try Self.examine("\(Self.sound), tls: true", port: secure.port)
        #expect(stranger.says("Authority of a test", "comes alone", "chain is incomplete"), "\(stranger.text)")
        let unencrypted = try Self.examine(trusting, port: plain.port)
        #expect(unencrypted.says("port \(plain.port) speaks MQTT without TLS", "leave out"), "\(unencrypted.text)")
        let container = directory.file("ca.p12")
        try run(
            "openssl",
            ["pkcs12", "-export", "-in", pair.certificate, "-inkey", pair.key, "-out", container, "-passout", "pass:"])
        let packed = try Self.examine("\(Self.sound), tls: true, caFile: \"\(container)\"", port: secure.port)
        #expect(packed.says("caFile: \(container) is a PKCS#12 file", "openssl pkcs12"), "\(packed.text)")
        let binary = directory.file("ca.der")
        try run("openssl", ["x509", "-in", certificates.authority, "-outform", "der", "-out", binary])
        let der = try Self.examine("\(Self.sound), tls: true, caFile: \"\(binary)\"", port: secure.port)
        #expect(der.says("caFile: \(binary) is a DER file", "openssl x509 -inform der"), "\(der.text)")
    }

    @Test func `A gateway without regions and a recording that is not there are found`() throws {
        let verdict = try Self.examine("scanner: {capture: \"nothing.btsnoop\"}", port: 0)
        #expect(
            verdict.says("nothing.btsnoop cannot be read", "no beacon region", "offline (port 0)"), "\(verdict.text)")
        #expect(verdict.bad.count == 2)
        #expect(verdict.says("2 problems to fix"))
    }

    @Test func `A configuration with a mistake is the one finding`() throws {
        let verdict = try Self.examine("hots: \"x\"", port: 0, "--json")
        #expect(verdict.code == 69)
        #expect(verdict.says(#""ok":false"#, #""about":"configuration""#, "host", #""cure":"#), "\(verdict.text)")
    }

    @Test func `It leaves a running gateway in peace`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "owntracks/+/+/event")
        let gateway = try GatewayProcess(Self.sound, port: broker.port)
        try gateway.start()
        #expect(gateway.says("connected to"), "\(gateway.log)")
        let verdict = try Self.examine(gateway)
        #expect(verdict.code == 0, "\(verdict.text)")
        #expect(gateway.stop() == 0)
        #expect(!gateway.log.contains("refused"), "\(gateway.log)")
        #expect(!gateway.log.contains("no broker"), "\(gateway.log)")
        #expect(witness.lines.allSatisfy { $0.text.contains("\"_type\":\"lwt\"") || $0.text.contains("transition") })
    }
}
