import Glibc
import JSON
import TestSupport
import Testing

/// Regions over the air, against a real broker and a real disk.
@Suite struct RegionSequenceTests {
    struct Step: Sendable {
        let what: String
        /// nil: clearWaypoints
        let elements: [String]?
        let expected: [String]

        init(_ what: String, _ elements: [String]?, _ expected: [String]) {
            (self.what, self.elements, self.expected) = (what, elements, expected)
        }

        func send(to house: GatewayFixture) throws {
            guard let elements else { return try house.command("clearWaypoints") }
            try house.setWaypoints(elements)
        }
    }

    static let steps = [
        Step(
            "insert", ["a", "b", "c", "d", "e"].map { GatewayFixture.waypoint($0, $0) },
            ["a=a", "b=b", "c=c", "d=d", "e=e"]),
        Step("update", [GatewayFixture.waypoint("c", "new")], ["a=a", "b=b", "c=new", "d=d", "e=e"]),
        Step("the same again", [GatewayFixture.waypoint("c", "new")], ["a=a", "b=b", "c=new", "d=d", "e=e"]),
        Step("delete the first", [GatewayFixture.gone("a")], ["b=b", "c=new", "d=d", "e=e"]),
        Step("delete in the middle", [GatewayFixture.gone("c")], ["b=b", "d=d", "e=e"]),
        Step("delete an unknown one", [GatewayFixture.gone("nobody")], ["b=b", "d=d", "e=e"]),
        Step("delete the last", [GatewayFixture.gone("e")], ["b=b", "d=d"]),
        Step(
            "one bad among good",
            [GatewayFixture.waypoint("f", "f"), #"{"_type":"location","tst":1}"#, GatewayFixture.waypoint("g", "g")],
            ["b=b", "d=d", "f=f", "g=g"]),
        Step(
            "insert and delete in one", [GatewayFixture.gone("b"), GatewayFixture.waypoint("h", "h")],
            ["d=d", "f=f", "g=g", "h=h"]),
        Step("clear", nil, []),
        Step("insert after that", [GatewayFixture.waypoint("a", "a")], ["a=a"]),
    ]

    @Test func `Insert, update, delete first, middle and last, and clear leave exactly the expected regions`() throws {
        let house = try GatewayFixture()
        for step in Self.steps {
            try step.send(to: house)
            #expect(try house.regions() == step.expected, "\(step.what)")
        }
        #expect(house.gateway.stop() == 0)
    }

    @Test func `The same with kill -9 after every step`() throws {
        let house = try GatewayFixture()
        for step in Self.steps {
            try step.send(to: house)
            #expect(try house.regionsAfterKill() == step.expected, "\(step.what)")
            try house.killAndStart()
            #expect(try house.regionsAfterKill() == step.expected, "after kill -9: \(step.what)")
        }
    }

    /// A command that the broker has handed over may be lost with the gateway, but never in part.
    @Test func `With kill -9 at any moment the regions are those before the command or those after it`() throws {
        let house = try GatewayFixture()
        let many = 60
        var before: [String] = []
        for round in 0..<12 {
            let elements = (0..<many).map { GatewayFixture.waypoint("r\($0)", "round\(round)") }
            let after = (0..<many).map { "r\($0)=round\(round)" }
            try house.setWaypoints(elements)
            usleep(UInt32(round) * 2_000)
            try house.killAndStart()
            let found = try house.regionsAfterKill()
            #expect(found == before || found == after, "round \(round): \(found)")
            before = found
        }
    }

    @Test func `A command that was sent while the gateway was down is obeyed when it comes back`() throws {
        let house = try GatewayFixture()
        house.gateway.kill()
        try house.setWaypoints([GatewayFixture.waypoint("late", "late")])
        try house.start()
        #expect(try house.regions() == ["late=late"])
    }

    @Test func `A beacon inside a deleted region leaves it first`() throws {
        let house = try GatewayFixture(
            "waypoints: [\(GatewayFixture.waypoint("k", "Kitchen"))], \(GatewayFixture.stay)")
        #expect(eventually { house.published("event").count == 1 }, "\(house.gateway.log)")
        try house.setWaypoints([GatewayFixture.gone("k")])
        #expect(eventually { house.published("event").count == 2 }, "\(house.gateway.log)")
        #expect(house.published("event").map { $0.contains(#""event":"leave""#) } == [false, true])
        #expect(try house.regions() == [])
        #expect(eventually { house.published(on: "ibeacon-gateway/hall/region/k").last == "" })
    }

    @Test func `A region that changed is published on waypoint only if that is asked for`() throws {
        let house = try GatewayFixture("publishWaypoints: true, \(GatewayFixture.quiet)")
        let told = try house.answer(on: "waypoint") {
            try house.setWaypoints([GatewayFixture.waypoint("k", "Kitchen")])
        }
        #expect(told["rid"] == "k")
        #expect(told["desc"] == .string("Kitchen:\(GatewayFixture.uuid):1:7"))
        #expect(house.witness.lines.filter { $0.topic.hasSuffix("/waypoint") }.allSatisfy { !$0.retained })
        let silent = try GatewayFixture()
        try silent.setWaypoints([GatewayFixture.waypoint("k", "Kitchen")])
        #expect(try silent.regions() == ["k=Kitchen"])
        #expect(silent.published("waypoint").isEmpty)
    }
}
