import Glibc
import TestSupport
import Testing

/// A site with a key over a real broker: the programs themselves, with recordings as the gateways' radio.
@Suite struct SiteKeyRunTests {
    private static let key = "correct horse battery staple"
    private static let file = #"encryptionKeyFile: "key""#

    private let broker: MosquittoBroker

    init() throws { broker = try MosquittoBroker() }

    private func gateway(_ device: String, room: String, level: Int8, hasKey: Bool) throws -> GatewayProcess {
        let directory = try TemporaryDirectory()
        var air = BeaconScript()
        air.advertise(7, from: 0, to: 600, every: 0.2, level: level)
        try air.write(to: directory.file("air.btsnoop"))
        try directory.write(Self.key + "\n", to: "key")
        return try GatewayProcess(
            "room: \"\(room)\", scanner: {capture: \"air.btsnoop\"}, rooms: {\(hasKey ? Self.file : "")}",
            port: broker.port, device: device, in: directory)
    }

    @Test
    func `Gateways and service with the key understand each other, and a gateway without it is refused and named`()
        throws
    {
        defer { broker.stop() }
        let witness = try Subscriber(to: broker, topic: "ibeacon-rooms/#")
        let directory = try TemporaryDirectory()
        let recorder = try ChildProcess(
            "mosquitto_sub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-i", "recorder", "-t", "ibeacon-rooms/#", "-F", "%j",
            ], output: directory.file("recording"))
        #expect(eventually { broker.log.contains("Sending SUBACK to recorder") })
        let service = try RoomsProcess(port: broker.port, instance: "a", rooms: ", \(Self.file)")
        try service.directory.write(Self.key + "\n", to: "key")
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        let gateways = try [
            gateway("kitchen-pi", room: "Kitchen", level: -50, hasKey: true),
            gateway("hall-pi", room: "Hall", level: -75, hasKey: true),
            gateway("attic-pi", room: "Attic", level: -40, hasKey: false),
        ]
        for gateway in gateways { try gateway.start() }
        #expect(service.says("Jane is in Kitchen"), "\(service.log)")
        #expect(
            gateways[2].says("is ignored: it is encrypted, and there is no key of the site here"),
            "\(gateways[2].log)")
        #expect(service.says("gateway/attic-pi was refused: it is not encrypted"), "\(service.log)")
        let list = { (try? service.say("rooms", "gateways")) ?? "" }
        // A gateway is online first, and listens when the service has heard from it.
        #expect(
            eventually {
                let list = list()
                return list.contains("sends what cannot be decrypted: attic-pi") && list.contains("kitchen-pi")
                    && list.contains("listening")
            }, "\(list())")
        #expect(try eventually { try service.ask("rooms", "status").contains("Kitchen") })
        #expect(!list().contains("Attic"))
        // All is encrypted but for the card of the gateway without the key.
        for line in witness.lines where !line.payload.isEmpty {
            #expect(
                line.text.hasPrefix(#"{"_type":"encrypted""#) || line.topic.hasSuffix("/attic-pi"),
                "\(line.topic): \(line.text)")
        }
        // Who has not the key is told so, by a gateway's doctor too.
        var blind = ""
        #expect(
            try eventually {
                blind = try gateways[2].say("rooms", "status")
                return blind.contains("cannot be read here: it is encrypted")
            }, "\(blind)")
        #expect(blind.contains("rooms.encryptionKeyFile"))
        var doctor = ""
        #expect(
            try eventually {
                doctor = try gateways[2].say("doctor", "--listen", "0")
                return doctor.contains("the list of tags on ibeacon-rooms/home/tags cannot be read")
            }, "\(doctor)")
        // A state with tags is that of a rooms service.
        _ = try service.ask("rooms", "tags", "add", "Keys:\(BeaconScript.uuid):1:9")
        var checks = ""
        #expect(
            try eventually {
                checks = try service.say("doctor", "--listen", "0")
                return checks.contains("BAD  rooms          sends what cannot be decrypted: attic-pi")
            }, "\(checks)")
        // Commands reach the service, and what they delete is gone.
        #expect(try service.say("rooms", "learn", "Kitchen", "--tag", "Joe").contains("there is no tag 'Joe'"))
        _ = try service.ask("rooms", "learn", "Kitchen", "--tag", "Jane", "--seconds", "3")
        let recording = directory.file("recording")
        // Whatever the service has decided from is before it.
        #expect(
            eventually { String(decoding: (try? directory.read("recording")) ?? [], as: UTF8.self).contains("/learn") })
        for gateway in gateways { #expect(gateway.stop() == 0) }
        _ = try service.ask("rooms", "gateways", "remove", "attic-pi")
        #expect(
            eventually {
                let list = list()
                return list.contains("kitchen-pi") && !list.contains("attic-pi")
            }, "\(list())")
        recorder.send(SIGTERM)
        recorder.wait()
        let closed = try service.say("rooms", "replay", recording, "--config", "/dev/null")
        #expect(!closed.contains(#""roomName":"Kitchen""#), "\(closed)")
        let replay = try service.ask("--quiet", "rooms", "replay", recording)
        #expect(replay.contains(#""roomName":"Kitchen""#), "\(replay)")
        #expect(service.stop() == 0)
        _ = try service.ask("rooms", "clear")
        #expect(
            eventually {
                Dictionary(
                    witness.lines.filter { !$0.topic.contains("/heard/") }.map { ($0.topic, $0.payload) }
                ) { $1 }
                .allSatisfy { $0.value.isEmpty || $0.key.hasSuffix("/learn") || $0.key.hasSuffix("/answer") }
            })
    }
}
