import TestSupport
import Testing

/// The commands that ask the rooms service for something say what it has done, against a real broker.
@Suite struct RoomsAnswerRunTests {
    /// What a command of the program printed with a service's configuration and state, and its exit code.
    private func say(_ service: RoomsProcess, _ words: String...) throws -> (code: Int32, text: String) {
        try say(service, words)
    }

    private func say(_ service: RoomsProcess, _ words: [String]) throws -> (code: Int32, text: String) {
        let name = "said-\(words.joined(separator: "-"))-\(UInt32.random(in: 0...UInt32.max))"
        let process = try ChildProcess(
            try GatewayProcess.program,
            [
                "--config", service.directory.file("config.json"), "--state-dir", service.directory.file("state"),
                "rooms",
            ] + words, output: service.directory.file(name))
        let code = process.wait()
        return (code, String(decoding: try service.directory.read(name), as: UTF8.self))
    }

    /// A card of a service that is gone: the broker and the service lost their power together.
    private func leaveCard(_ broker: MosquittoBroker, of instance: String) throws {
        try SitePublisher(port: broker.port).publish(
            "service/\(instance)", #"{"v":1,"active":true,"counter":17,"version":"1"}"#, retained: true)
    }

    @Test func `learn, forget and rename say what the service has done, and fail where that is nothing`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let service = try RoomsProcess(
            port: broker.port, instance: "a",
            tags: ["Jane:\(BeaconScript.uuid):1:7", "Bag:\(BeaconScript.uuid):1:8"])
        try service.start()
        #expect(service.says("the active one of site 'home'"), "\(service.log)")
        let house = try RoomsHouse(port: broker.port)
        let witness = try Subscriber(to: broker, topic: "ibeacon-rooms/home/room/+")
        #expect(
            try house.stay(in: 0) { witness.lines.contains { $0.topic.hasSuffix("/room/kitchen") } },
            "\(service.log)")

        // Nobody hears the bag, and nothing was trained.
        var said = try say(service, "learn", "Kitchen", "--tag", "Bag", "--seconds", "2")
        #expect(said.code == 65 && said.text.contains("nothing was learned of Kitchen"), "\(said)")
        said = try say(service, "learn", "Kitchen", "--tag", "Jane", "--seconds", "0")
        #expect(said.code == 65 && said.text.contains("no training of Kitchen"), "\(said)")
        said = try say(service, "forget", "Bath")
        #expect(said.code == 65 && said.text.contains("nothing was learned of Bath"), "\(said)")

        for room in ["Den", "Loft"] {
            try house.publish("learn", #"{"room":"\#(room)","tag":"Jane","seconds":600}"#)
            try house.stay(in: 0, seconds: 8)
            said = try say(service, "learn", room, "--tag", "Jane", "--seconds", "0", "--new")
            #expect(said.code == 0 && said.text.contains("were learned"), "\(said)")
        }
        #expect(
            try house.stay(in: 0) { witness.lines.contains { $0.topic.hasSuffix("/room/loft") && !$0.text.isEmpty } },
            "\(service.log)")
        said = try say(service, "rename", "Den", "Loft")
        #expect(said.code == 65 && said.text.contains("has a training of its own"), "\(said)")
        said = try say(service, "forget", "Loft")
        #expect(said.code == 0 && said.text.contains("What was learned of Loft is deleted."), "\(said)")
        said = try say(service, "rename", "Den", "Snug")
        #expect(said.code == 0 && said.text.contains("Den is Snug now."), "\(said)")
        #expect(service.stop() == 0)
    }

    @Test func `Where only the card of a dead service is left, commands do not believe it, and name it`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        try leaveCard(broker, of: "attic-old")
        let publisher = try SitePublisher(port: broker.port)
        try publisher.publish("room/hall", #"{"name":"Hall","count":0,"tags":[]}"#, retained: true)
        let here = try RoomsProcess(port: broker.port, instance: "b")
        let dead = "the card of attic-old has not changed for 10 s"
        for words in [["status"], ["forget", "Hall"], ["rename", "Hall", "Den"], ["learn", "Hall", "--tag", "Jane"]] {
            let (code, text) = try say(here, words)
            #expect(
                code == 69 && text.contains(dead) && text.contains("no rooms service is active"), "\(words): \(text)")
        }
    }

    @Test func `The active service removes the card of a dead one, and not that of a standby`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        try leaveCard(broker, of: "attic-old")
        let witness = try Subscriber(to: broker, topic: "ibeacon-rooms/home/service/+")
        func card(_ instance: String) -> String? {
            witness.lines.last { $0.topic.hasSuffix("/service/\(instance)") }?.text
        }
        let service = try RoomsProcess(port: broker.port, instance: "a")
        try service.start()
        #expect(service.says("the active one of site 'home'"), "\(service.log)")
        let standby = try RoomsProcess(port: broker.port, instance: "c")
        try standby.start()
        #expect(eventually { card("attic-old") == "" }, "\(service.log)")
        #expect(service.says("the card of the service 'attic-old'"), "\(service.log)")
        #expect(eventually { card("c")?.contains(#""active":false"#) == true }, "\(standby.log)")
        let status = try say(service, "status")
        #expect(status.code == 0 && status.text.contains("decided by a, not active: c\n"), "\(status)")
        #expect(!status.text.contains("attic-old"))
        #expect(!witness.lines.contains { $0.topic.hasSuffix("/service/c") && $0.text.isEmpty })
    }

    @Test func `A service of an earlier version, which answers nothing, has not confirmed anything`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let publisher = try SitePublisher(port: broker.port)
        try publisher.publish("room/hall", #"{"name":"Hall","count":0,"tags":[]}"#, retained: true)
        try publisher.publish("room/den", #"{"name":"Den","count":0,"tags":[]}"#, retained: true)
        let card = try MovingCard(port: broker.port, #"{"v":1,"active":true,"counter":COUNTER,"version":"1"}"#)
        defer { card.stop() }
        let here = try RoomsProcess(port: broker.port, instance: "b")
        for words in [
            ["forget", "Hall"], ["rename", "Hall", "Den"], ["learn", "Hall", "--tag", "Jane", "--seconds", "1"],
        ] {
            let (code, text) = try say(here, words)
            #expect(code == 69 && text.contains("no service has confirmed"), "\(words): \(text)")
        }
    }
}
