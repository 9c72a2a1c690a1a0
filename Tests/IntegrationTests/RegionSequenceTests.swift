import Glibc
import JSON
import OwnTracks
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

        func send(to house: House) throws {
            guard let elements else { return try house.command("clearWaypoints") }
            try house.setWaypoints(elements)
        }
    }

    static let steps = [
        Step(
            "insert", ["a", "b", "c", "d", "e"].map { House.waypoint($0, $0) }, ["a=a", "b=b", "c=c", "d=d", "e=e"]),
        Step("update", [House.waypoint("c", "new")], ["a=a", "b=b", "c=new", "d=d", "e=e"]),
        Step("the same again", [House.waypoint("c", "new")], ["a=a", "b=b", "c=new", "d=d", "e=e"]),
        Step("delete the first", [House.gone("a")], ["b=b", "c=new", "d=d", "e=e"]),
        Step("delete in the middle", [House.gone("c")], ["b=b", "d=d", "e=e"]),
        Step("delete an unknown one", [House.gone("nobody")], ["b=b", "d=d", "e=e"]),
        Step("delete the last", [House.gone("e")], ["b=b", "d=d"]),
        Step(
            "one bad among good",
            [House.waypoint("f", "f"), #"{"_type":"location","tst":1}"#, House.waypoint("g", "g")],
            ["b=b", "d=d", "f=f", "g=g"]),
        Step("insert and delete in one", [House.gone("b"), House.waypoint("h", "h")], ["d=d", "f=f", "g=g", "h=h"]),
        Step("clear", nil, []),
        Step("insert after that", [House.waypoint("a", "a")], ["a=a"]),
    ]

    @Test func `Insert, update, delete first, middle and last, and clear leave exactly the expected regions`() throws {
        let house = try House()
        for step in Self.steps {
            try step.send(to: house)
            #expect(try house.regions() == step.expected, "\(step.what)")
        }
        #expect(house.gateway.stop() == 0)
    }

    @Test func `The same with kill -9 after every step`() throws {
        let house = try House()
        for step in Self.steps {
            try step.send(to: house)
            #expect(try house.regionsAfterKill() == step.expected, "\(step.what)")
            try house.killAndStart()
            #expect(try house.regionsAfterKill() == step.expected, "after kill -9: \(step.what)")
        }
    }

    /// A command that the broker has handed over may be lost with the gateway, but never in part.
    @Test func `With kill -9 at any moment the regions are those before the command or those after it`() throws {
        let house = try House()
        let many = 60
        var before: [String] = []
        for round in 0..<12 {
            let elements = (0..<many).map { House.waypoint("r\($0)", "round\(round)") }
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
        let house = try House()
        house.gateway.kill()
        try house.setWaypoints([House.waypoint("late", "late")])
        try house.start()
        #expect(try house.regions() == ["late=late"])
    }

    @Test func `Whoever is inside a region that is deleted leaves it first`() throws {
        let house = try House("waypoints: [\(House.waypoint("k", "Kitchen"))], \(House.demo)")
        #expect(eventually { house.said("event").count == 1 }, "\(house.gateway.log)")
        try house.setWaypoints([House.gone("k")])
        #expect(eventually { house.said("event").count == 2 }, "\(house.gateway.log)")
        #expect(house.said("event").map { $0.contains(#""event":"leave""#) } == [false, true])
        #expect(try house.regions() == [])
        #expect(eventually { house.said(on: "ibeacon-gateway/hall/region/k").last == "" })
    }

    @Test func `A region that changed is published on waypoint only if that is asked for`() throws {
        let house = try House("publishWaypoints: true, \(House.quiet)")
        let told = try house.answer(on: "waypoint") { try house.setWaypoints([House.waypoint("k", "Kitchen")]) }
        #expect(told["rid"] == "k")
        #expect(told["desc"] == .string("Kitchen:\(House.uuid):1:7"))
        #expect(house.witness.lines.filter { $0.topic.hasSuffix("/waypoint") }.allSatisfy { !$0.retained })
        let silent = try House()
        try silent.setWaypoints([House.waypoint("k", "Kitchen")])
        #expect(try silent.regions() == ["k=Kitchen"])
        #expect(silent.said("waypoint").isEmpty)
    }
}
