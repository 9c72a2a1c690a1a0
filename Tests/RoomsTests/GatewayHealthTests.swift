import Base
import Rooms
import RoomsSupport
import SiteProtocol
import Testing

@Suite struct GatewayHealthTests {
    private var house = House([("k", "Kitchen"), ("h", "Hall")])

    private func reports(connected: Double = 0) -> [String] {
        house.engine.plan.gatewayHealth(at: instant(house.now), connected: instant(connected)).map { report in
            "\(report.name) \(report.isListening ? "listens" : "does not listen") \(report.trouble?.rawValue ?? "well")"
        }
    }

    private func instant(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    @Test mutating func `Gateways that feed are well`() {
        for _ in 0..<3 { house.second(["k": -50, "h": nil as Float?]) }
        #expect(reports() == ["h listens well", "k listens well"])
    }

    @Test mutating func `A gateway without readings is in trouble after 25 s, not before`() {
        for _ in 0..<24 { house.second(["k": -50]) }
        #expect(reports() == ["h does not listen well", "k listens well"])
        house.second(["k": -50])
        #expect(reports() == ["h does not listen noReadings", "k listens well"])
    }

    @Test mutating func `A gateway that fed and feeds no more is silent`() {
        house.second(["k": -50, "h": -70])
        for _ in 0..<26 { house.second(["k": -50]) }
        #expect(reports() == ["h does not listen silent", "k listens well"])
    }

    @Test mutating func `A gateway whose readings all come late is late, not silent`() {
        house.second(["k": -50, "h": -70])
        let begin = house.now
        for _ in 0..<20 { house.second(["k": -50]) }
        for second in 1...30 {
            house.second(["k": -50])
            house.sequences["h", default: 0] += 1
            // It sends more than arrives.
            house.pass(
                .heard(
                    gateway: "h",
                    HeardSecond(
                        startID: "a", sequence: house.sequences["h"] ?? 0, at: .seconds(begin + 0.5 * Double(second)),
                        listening: .seconds(1), reports: 10, readings: [])))
        }
        #expect(reports() == ["h does not listen late", "k listens well"])
        for _ in 0..<26 { house.second(["k": -50]) }
        #expect(reports() == ["h does not listen silent", "k listens well"])
    }

    @Test mutating func `Nothing is said of a silence of the connection`() {
        house.second(["k": -50, "h": -70])
        for _ in 0..<30 { house.second([:]) }
        #expect(reports(connected: house.now - 5) == ["h does not listen well", "k does not listen well"])
    }

    @Test mutating func `A gateway that is not connected is offline`() {
        house.second(["k": -50, "h": -70])
        house.pass(.available(gateway: "h", false))
        #expect(reports() == ["h does not listen offline", "k listens well"])
    }

    @Test mutating func `A gateway that hears nothing while others do is deaf`() {
        for _ in 0..<60 { house.second(["k": -50, "h": nil as Float?], reports: 0) }
        #expect(reports() == ["h does not listen deaf", "k listens well"])
    }

    @Test mutating func `A gateway whose first messages say that it received nothing shows that no other one is deaf`()
    {
        var house = House([("a", "Attic"), ("k", "Kitchen"), ("h", "Hall")])
        house.seconds(60, reports: 0, ["k": Float?.none, "h": Float?.none])
        house.seconds(5, reports: 0, ["a": Float?.none, "k": Float?.none, "h": Float?.none])
        self.house = house
        #expect(reports() == ["a listens well", "h listens well", "k listens well"])
    }

    @Test mutating func `A gateway that is known and has never sent disturbs no judgement of the others`() {
        var house = House([("a", "Attic"), ("k", "Kitchen"), ("h", "Hall")])
        for _ in 0..<60 { house.second(["k": -50, "h": nil as Float?], reports: 0) }
        self.house = house
        #expect(reports() == ["a does not listen noReadings", "h does not listen deaf", "k listens well"])
    }

    /// Two minutes in a room, with a person's word for it.
    private mutating func walk(through room: String, _ levels: [String: Float?]) {
        house.pass(.learn(room: room, tag: "jane", .seconds(120)))
        for second in 0..<121 {
            let shift = Float((second * 7) % 13) - 6
            house.second(levels.mapValues { $0.map { $0 + shift } })
        }
    }

    @Test mutating func `Two gateways that hear the walks through each other's room best may be exchanged`() {
        walk(through: "Kitchen", ["k": -75, "h": -55])
        #expect(reports() == ["h listens well", "k listens well"])
        walk(through: "Hall", ["k": -55, "h": nil])
        #expect(reports() == ["h listens exchanged", "k listens exchanged"])
    }

    @Test(arguments: [(-55, -75), (-60, -55)])
    mutating func `Gateways that hear their own rooms best, or nearly so, are not exchanged`(own: Float, other: Float) {
        walk(through: "Kitchen", ["k": own, "h": other])
        walk(through: "Hall", ["k": other, "h": own])
        #expect(reports() == ["h listens well", "k listens well"])
    }

    @Test mutating func `Gateways that change to each other's room may be exchanged, for a day`() {
        house.second(["k": -50, "h": -70])
        house.pass(.card(gateway: "k", room: "Hall"))
        #expect(reports() == ["h listens well", "k listens well"])
        house.pass(.card(gateway: "h", room: "Kitchen"))
        #expect(reports() == ["h listens exchanged", "k listens exchanged"])
        let later = house.engine.plan.gatewayHealth(
            at: instant(house.now + 90_000), connected: instant(house.now + 90_000))
        #expect(later.allSatisfy { $0.trouble == nil })
    }

    /// Messages of the gateway `k`, each of a start of its own name, one per second.
    private mutating func send(_ boots: String) {
        for startID in boots {
            house.now += 1
            house.sequences["k", default: 0] += 1
            house.pass(
                .heard(
                    gateway: "k",
                    HeardSecond(
                        startID: String(startID), sequence: house.sequences["k"] ?? 0, at: .seconds(Int64(house.now)),
                        listening: .seconds(1), reports: 10, readings: [])))
        }
    }

    @Test(arguments: [
        ("aaaaaaaa", false), ("aabbccdd", false), ("aabab", false), ("aaababab", true), ("abcabc", true),
        ("abcdeabcde", true),
    ])
    mutating func `A name is shared if starts alternate, not if a gateway starts anew or a message comes late`(
        _ boots: String, _ isShared: Bool
    ) {
        send(boots)
        #expect(house.findings == (isShared ? [.shared(gateway: "k")] : []))
        #expect(reports().contains("k listens sharedName") == isShared)
    }

    @Test mutating func `A name that is no longer shared is well after ten minutes`() {
        send("ababab")
        for _ in 0..<610 { send("b") }
        #expect(reports().contains("k listens well"))
    }

    @Test mutating func `A room is known while a gateway stands in it or it was learned`() {
        #expect(house.engine.knownRooms.map(\.id) == ["hall", "kitchen"])
        house.pass(.forget(gateway: "h"))
        #expect(house.engine.knownRooms.map(\.id) == ["kitchen"])
        house.pass(.learn(room: "Attic", tag: "jane", .seconds(20)))
        for _ in 0..<10 { house.second(["k": -70]) }
        #expect(house.engine.knownRooms.map(\.id).contains("attic"))
    }
}
