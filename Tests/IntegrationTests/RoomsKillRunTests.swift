import Glibc
import JSON
import TestSupport
import Testing

/// People who walk through a house, a rooms service that is killed all the time, and a consumer that must not notice.
@Suite struct RoomsKillRunTests {
    /// How often the service is killed; `Scripts/soak` asks for more. Each time takes eight seconds.
    private static let kills = min(100, getenv("IBEACON_GATEWAY_KILLS").flatMap { Int(String(cString: $0)) } ?? 12)
    private static let rooms = ["kitchen", "hall", "bath"]
    /// Those that never leave their room, of ten.
    private static let still = 4

    /// Ten tags, three rooms with a gateway each, and a second that passes in a tenth of a second ten times.
    private final class House {
        private let gateways: [LinePublisher]
        private(set) var places = (0..<10).map { $0 % 3 }
        private var tenths = 0
        private var nextMove = [Int](repeating: 0, count: 10)
        private var random = SystemRandomNumberGenerator()
        var areMoving = true

        init(port: UInt16, in directory: TemporaryDirectory) throws {
            gateways = try (0..<3).map {
                try LinePublisher("ibeacon-rooms/home/heard/g\($0)", port: port, in: directory)
            }
            for tag in nextMove.indices { nextMove[tag] = 100 + 15 * tag }
        }

        static func name(_ tag: Int) -> String { "T\(tag)" }

        /// A tenth of a second passes. Each second all gateways publish, and each moving tag changes its room from time to time.
        func pass() throws {
            usleep(100_000)
            tenths += 1
            for tag in still..<places.count where areMoving && tenths >= nextMove[tag] {
                places[tag] = (places[tag] + Int.random(in: 1...2, using: &random)) % 3
                nextMove[tag] = tenths + Int.random(in: 70...150, using: &random)
            }
            guard tenths.isMultiple(of: 10) else { return }
            for (gateway, publisher) in gateways.enumerated() {
                let readings = places.enumerated().map { tag, place in
                    let level = (place == gateway ? -52 : -76) + Int.random(in: -3...3, using: &random)
                    return #"{"id":"\#(BeaconScript.uuid):1:\#(tag + 1)","n":3,"rssi":\#(level),"power":-59,"age":100}"#
                }
                try publisher.send(
                    #"{"v":1,"boot":"b","seq":\#(tenths),"at":\#(tenths * 100),"listening":1000,"reports":40,"#
                        + #""beacons":[\#(readings.joined(separator: ","))]}"#)
            }
        }
    }

    /// What a consumer has heard.
    private struct Heard {
        /// Rooms of each tag in the order in which they were published. A message that is byte-identical to an earlier one
        /// was sent again because its acknowledgement was not on the disk yet, and counts once.
        var rooms: [String: [String]] = [:]
        var events: [String: [String]] = [:]

        /// The rooms of each tag, as they were published.
        func told(_ names: [String]) -> [[String]] { names.map { (rooms[$0] ?? []).filter { $0 != "none" } } }

        init(_ witness: Subscriber) {
            var seen: Set<Subscriber.Line> = []
            for line in witness.lines where seen.insert(line).inserted {
                guard line.topic.hasPrefix("ibeacon-rooms/home/tag/") || line.topic.hasSuffix("/event") else {
                    continue
                }
                guard let json = try? JSONValue(parsing: Array(line.text.utf8)) else { continue }
                let levels = line.topic.split(separator: "/").map(String.init)
                if line.topic.hasPrefix("ibeacon-rooms/home/tag/"), let name = json["name"]?.string {
                    // The text of a state may change without the room.
                    let room = json["room"]?.string ?? "none"
                    if rooms[name]?.last != room { rooms[name, default: []].append(room) }
                } else if levels.last == "event", let event = json["event"]?.string, let room = json["desc"]?.string {
                    events[levels[2].uppercased(), default: []].append("\(event) \(room.lowercased())")
                }
            }
        }
    }

    /// The rooms of each tag, as they were stored with the decisions.
    private static func committed(_ names: [String], _ service: RoomsProcess) throws -> [[String]] {
        try names.map { name in
            try service.ask("rooms", "history", "--tag", name, "--json").split(separator: "\n").map {
                try JSONValue(parsing: Array($0.utf8))["room"]?.string ?? ""
            }
        }
    }

    @Test func `Killed at random instants, the rooms service loses no decision, and moves no tag that stayed`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let witness = try Subscriber(to: broker)
        let names = (0..<10).map(House.name)
        let service = try RoomsProcess(
            port: broker.port, instance: "a",
            tags: names.enumerated().map { "\($1):\(BeaconScript.uuid):1:\($0 + 1)" })
        _ = try RoomsHouse(port: broker.port)
        let house = try House(port: broker.port, in: service.directory)
        try service.start()
        var killed = 0
        var slowest = 0
        while killed < Self.kills {
            for _ in 0..<Int.random(in: 1...120) { try house.pass() }
            usleep(.random(in: 0...100_000))
            service.kill()
            killed += 1
            // It may be down for a while, and tags move meanwhile.
            for _ in 0..<Int.random(in: 0...20) { try house.pass() }
            try service.start()
            guard killed.isMultiple(of: 4) else { continue }
            house.areMoving = false
            // Within 15 s each tag is where it is.
            let right = names.indices.map { Self.rooms[house.places[$0]] }
            var said: [String?] = []
            for second in 1...15 where said != right {
                for _ in 0..<10 { try house.pass() }
                let heard = Heard(witness)
                said = names.map { heard.rooms[$0]?.last }
                slowest = max(slowest, second)
            }
            #expect(said == right, "15 s after kill \(killed)\n\(service.log.suffix(4000))")
            house.areMoving = true
        }
        // What waits to be sent again, is, and no decision is pending at the end.
        house.areMoving = false
        for _ in 0..<30 { try house.pass() }
        // What is in the outbox at the end would be sent at the next start.
        #expect(
            eventually(within: .seconds(10)) { (try? Self.committed(names, service)) == Heard(witness).told(names) })
        #expect(service.stop() == 0)
        let heard = Heard(witness)
        for (tag, name) in names.enumerated() {
            let committed = try Self.committed([name], service)[0]
            let told = heard.told([name])[0]
            #expect(told == committed, "\(name)")
            if tag < Self.still { #expect(told == [Self.rooms[tag % 3]], "\(name) stayed") }
            // Each room that it left, it had entered.
            let expected = committed.indices.flatMap {
                $0 == 0 ? ["enter \(committed[0])"] : ["leave \(committed[$0 - 1])", "enter \(committed[$0])"]
            }
            #expect(heard.events[name] == expected, "\(name)")
        }
        let changes = heard.rooms.values.reduce(0) { $0 + $1.count }
        print(
            "the rooms service was killed \(killed) times, \(changes) changes of room, right again after \(slowest) s"
        )
    }
}

/// A `mosquitto_pub` that sends each line it is given.
private final class LinePublisher {
    private let process: ChildProcess
    private let descriptor: Int32

    init(_ topic: String, port: UInt16, in directory: TemporaryDirectory) throws {
        let pipe = directory.file("lines-\(topic.split(separator: "/").last ?? "")")
        guard mkfifo(pipe, 0o600) == 0 else { throw SupportError("no pipe: \(String(cString: strerror(errno)))") }
        process = try ChildProcess(
            "sh", ["-c", "exec mosquitto_pub -h 127.0.0.1 -p \(port) -t \(topic) -l < '\(pipe)'"],
            output: pipe + ".log")
        descriptor = open(pipe, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SupportError("no pipe: \(String(cString: strerror(errno)))") }
    }

    func send(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SupportError("mosquitto_pub takes no line: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }
}
