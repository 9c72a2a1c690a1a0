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

    /// Ten tags and three rooms with a gateway each.
    private final class House {
        private let site: SitePublisher
        private(set) var places = (0..<10).map { $0 % 3 }
        private var tenths = 0
        private var number = 0
        /// When the gateways published last, milliseconds.
        private var published: Int?
        private var nextMove = [Int](repeating: 0, count: 10)
        private var random = SystemRandomNumberGenerator()
        var areMoving = true

        init(port: UInt16) throws {
            site = try SitePublisher(port: port)
            for tag in nextMove.indices { nextMove[tag] = 100 + 15 * tag }
        }

        static func name(_ tag: Int) -> String { "T\(tag)" }

        /// A tenth of a second passes, or more on a busy machine. After ten of them all gateways publish, and each moving tag changes
        /// its room from time to time.
        func pass() throws {
            usleep(100_000)
            tenths += 1
            for tag in still..<places.count where areMoving && tenths >= nextMove[tag] {
                places[tag] = (places[tag] + Int.random(in: 1...2, using: &random)) % 3
                nextMove[tag] = tenths + Int.random(in: 70...150, using: &random)
            }
            if tenths.isMultiple(of: 10) { try hear() }
        }

        private func hear() throws {
            let now = site.now
            let listening = now - (published ?? now - 1000)
            published = now
            number += 1
            for gateway in 0..<3 {
                let readings = places.enumerated().map { tag, place in
                    let level = (place == gateway ? -52 : -76) + Int.random(in: -3...3, using: &random)
                    return #"{"id":"\#(BeaconScript.uuid):1:\#(tag + 1)","n":3,"rssi":\#(level),"power":-59,"age":100}"#
                }
                try site.publish(
                    "heard/g\(gateway)",
                    #"{"v":1,"boot":"b","seq":\#(number),"at":\#(100_000 + now),"listening":\#(listening),"reports":40,"#
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

    /// Waits until the service says of each tag where it is, while all tags stay where they are.
    ///
    /// - Returns: How many times the gateways published until then.
    private static func rest(
        _ house: House, _ names: [String], _ witness: Subscriber, _ when: @autoclosure () -> String
    ) throws -> Int {
        let right = names.indices.map { rooms[house.places[$0]] }
        var said: [String?] = []
        for second in 1...180 {
            for _ in 0..<10 { try house.pass() }
            let heard = Heard(witness)
            said = names.map { heard.rooms[$0]?.last }
            if said == right { return second }
        }
        Issue.record("\(said), not \(right), three minutes after \(when())")
        return 180
    }

    @Test
    func `What the broker has not acknowledged when the service is killed is published after the next start`() throws {
        let broker = try MosquittoBroker()
        defer { broker.stop() }
        let proxy = try FaultyProxy(to: broker.port)
        defer { proxy.close() }
        let witness = try Subscriber(to: broker)
        let service = try RoomsProcess(port: proxy.port, instance: "a")
        try service.start()
        #expect(service.says("the active one"), "\(service.log)")
        let house = try RoomsHouse(port: broker.port)
        let told = { Heard(witness).events["JANE"] ?? [] }
        #expect(try house.stay(in: 0) { told() == ["enter kitchen"] }, "\(service.log)")
        proxy.behave(.swallows)
        #expect(try house.stay(in: 1) { service.log.contains("Jane is in Hall") }, "\(service.log)")
        // What is acknowledged leaves the outbox two seconds later.
        try house.stay(in: 1, seconds: 4)
        service.kill()
        #expect(told() == ["enter kitchen"])
        proxy.behave(.passes)
        try service.start()
        // Whatever waits is published before what is decided now.
        #expect(try house.stay(in: 2) { told().last == "enter bath" }, "\(service.log)")
        #expect(
            told() == ["enter kitchen", "leave kitchen", "enter hall", "leave hall", "enter bath"], "\(service.log)")
        #expect(service.stop() == 0)
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
        let house = try House(port: broker.port)
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
            slowest = max(slowest, try Self.rest(house, names, witness, "kill \(killed)\n\(service.log.suffix(4000))"))
            house.areMoving = true
        }
        // Where each tag is where it is, and what is stored was published, no decision is pending: what is in the outbox at
        // the end would be sent at the next start.
        house.areMoving = false
        _ = try Self.rest(house, names, witness, "the last kill\n\(service.log.suffix(4000))")
        for _ in 0..<30 { try house.pass() }
        #expect(eventually { (try? Self.committed(names, service)) == Heard(witness).told(names) })
        #expect(service.stop() == 0)
        let committed = try Self.committed(names, service)
        // Each room that a tag left, it had entered.
        let expected = committed.map { rooms in
            rooms.indices.flatMap {
                $0 == 0 ? ["enter \(rooms[0])"] : ["leave \(rooms[$0 - 1])", "enter \(rooms[$0])"]
            }
        }
        // The witness may be behind the broker.
        _ = eventually { names.map { Heard(witness).events[$0] ?? [] } == expected }
        let heard = Heard(witness)
        for (tag, name) in names.enumerated() {
            let told = heard.told([name])[0]
            #expect(told == committed[tag], "\(name)")
            if tag < Self.still { #expect(told == [Self.rooms[tag % 3]], "\(name) stayed") }
            #expect(heard.events[name] == expected[tag], "\(name)")
        }
        let changes = heard.rooms.values.reduce(0) { $0 + $1.count }
        print(
            "the rooms service was killed \(killed) times, \(changes) changes of room, right again after \(slowest) s"
        )
    }
}
