import Base
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// What the engine keeps so that neither a window nor an input looks at all gateways and rooms is the same as if it looked.
@Suite struct SparseWindowTests {
    /// A fixed sequence of numbers.
    private struct Numbers {
        private var state: UInt64

        init(seed: UInt64) { state = seed }

        mutating func next(below bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }

    /// One of the inputs that change what silence says, or which rooms have a gateway.
    private func step(_ house: inout House, _ numbers: inout Numbers) {
        let gateway = "g\(numbers.next(below: 14))"
        let room = "Room \(numbers.next(below: 12))"
        switch numbers.next(below: 40) {
        case 0: house.pass(.card(gateway: gateway, room: room))
        case 1: house.pass(.forget(gateway: gateway))
        case 2: house.pass(.available(gateway: gateway, false))
        case 3: house.pass(.learn(room: room, tag: "jane", .seconds(5)))
        case 4: house.pass(.forgetRoom(.named(room)))
        case 5: house.wait(until: house.now + 30)
        case 6: house.pass(.telemetry(node: gateway))
        case 7: house.send(from: gateway, level: -60, startID: "")
        case 8: house.send(from: gateway, level: nil, reports: 0)
        default:
            house.send(from: gateway, level: numbers.next(below: 3) == 0 ? nil : Float(-50 - numbers.next(below: 40)))
        }
        house.wait(until: house.now + 0.1)
    }

    @Test(arguments: [1, 2, 3])
    func `Levels of silence, the next silence and the rooms without a gateway are up to date`(_ seed: UInt64) {
        var bounds = RoomEngine.Bounds()
        (bounds.gateways, bounds.rooms) = (10, 10)
        var house = House([("g0", "Room 0"), ("g1", "Room 1")], bounds: bounds)
        var numbers = Numbers(seed: seed)
        var stale: [String] = []
        for number in 0..<4000 {
            step(&house, &numbers)
            stale += Self.stale(in: house.engine).map { "step \(number): \($0)" }
        }
        #expect(stale.isEmpty, "\(stale.prefix(5))")
        #expect(house.engine.counters.windows > 500)
    }

    /// What the engine keeps and differs from what it would find by looking at all gateways and rooms.
    private static func stale(in engine: RoomEngine) -> [String] {
        let (hearing, observation) = (engine.plan.hearing, engine.judgement.observation)
        var stale: [String] = []
        for gateway in hearing.gateways.indices {
            let state = hearing.gateways[gateway]
            let level = observation.window.levels[gateway].dBm
            if level != state.levelOfSilence(engine.tuning.silence).dBm, !observation.gathered.contains(gateway) {
                stale.append("level of \(state.name)")
            }
            if state.isListening, let silent = state.silentAt(engine.tuning.hearing),
                silent < hearing.silenceDue ?? silent.advanced(by: .seconds(1))
            {
                stale.append("silence of \(state.name)")
            }
            if observation.parts[gateway] != 0, !observation.weighed.contains(gateway) {
                stale.append("part of \(state.name)")
            }
        }
        let trained = hearing.rooms.indices.filter { room in
            engine.plan.learning.rooms[room].labelled.count > 0
                && !hearing.rooms[room].gateways.contains {
                    hearing.gateways[$0].isListening || hearing.gateways[$0].isNode
                }
        }
        if let kept = engine.plan.roomsWithoutGateway, kept.sorted() != trained { stale.append("rooms") }
        return stale
    }
}
