import Base
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// Where gateways stand and which rooms exist, alone.
@Suite struct SitePlanTests {
    private var plan: SitePlan
    private var tags = Tags(most: 1, HearingTuning())
    private var effects: [RoomEngine.Effect] = []

    init() {
        var bounds = RoomEngine.Bounds()
        bounds.rooms = 2
        plan = SitePlan(RoomTuning(), bounds: bounds)
    }

    private func seconds(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    private mutating func gateway(_ name: String, in room: String) throws -> GatewayIndex {
        let added = plan.hearing.addGateway(name)
        let gateway = try #require(added)
        let isPlaced = plan.place(gateway, in: .named(room), &tags, at: seconds(1), &effects)
        #expect(isPlaced)
        return gateway
    }

    @Test mutating func `A card adds the room that it names`() throws {
        _ = try gateway("a", in: "Kitchen")
        #expect(plan.gateways(in: .named("Kitchen")) == ["a"] && plan.hasRoom(gateway: "a"))
        #expect(plan.roomID(ofGateway: "a") == "kitchen" && plan.roomID(ofGateway: "b") == nil)
    }

    @Test mutating func `In a full table a room without a gateway that counts gives way`() throws {
        _ = try gateway("a", in: "Kitchen")
        let known = try gateway("b", in: "Hall")
        plan.hearing.restore(known)
        let attic = plan.room(named: .named("Attic"), &tags, at: seconds(2), &effects)
        #expect(attic != nil && plan.gateways(in: .named("Kitchen")).isEmpty && !plan.hasRoom(gateway: "a"))
        #expect(plan.roomReports.map(\.name.id).sorted() == ["attic", "hall"])
        #expect(effects.count == 1)
    }

    @Test mutating func `A full table of rooms in use has no place`() throws {
        for name in ["Kitchen", "Hall"] { plan.hearing.restore(try gateway(name, in: name)) }
        let attic = plan.room(named: .named("Attic"), &tags, at: seconds(2), &effects)
        #expect(attic == nil)
    }

    @Test mutating func `A gateway that is forgotten stands nowhere`() throws {
        let gateway = try gateway("a", in: "Kitchen")
        plan.forget(gateway, &tags)
        #expect(!plan.hasRoom(gateway: "a") && plan.gateways(in: .named("Kitchen")).isEmpty)
    }

    @Test mutating func `What was learned comes back, with the rooms and gateways that it names`() {
        var learned = LearnedSite()
        learned.rooms = [
            LearnedSite.LearnedRoom(
                name: .named("Kitchen"),
                labelled: [LearnedSite.Moment(seconds: 5, levels: [.init(gateway: 0, eighths: -480)])], own: .init()),
            LearnedSite.LearnedRoom(name: .named("Nothing"), labelled: [], own: .init()),
        ]
        learned.gateways = [LearnedSite.Gateway(name: "a", room: 0)]
        let rooms = plan.restoreRooms(of: learned, &tags)
        plan.restore(learned, rooms, [plan.hearing.addGateway("a")], &tags)
        #expect(rooms.map { $0 != nil } == [true, false])
        #expect(plan.learned.rooms == [learned.rooms[0]] && plan.learned.gateways == learned.gateways)
        #expect(plan.isLearned(room: .named("Kitchen")) && plan.isTrusted(gateway: "a"))
    }
}
