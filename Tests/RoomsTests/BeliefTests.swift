import Base
import Beacon
import Regions
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// Belief, transition, movement and learning, each alone.
@Suite struct BeliefTests {
    private let kitchen = RoomIndex(number: 0)
    private let hall = RoomIndex(number: 1)

    private func seconds(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    private func tag() -> Rooms.Tag {
        Rooms.Tag(TagDescription(id: "jane", name: "Jane", pattern: BeaconPattern(uuid: BeaconUUID(high: 1, low: 2))))
    }

    /// Two gateways that listen, the first in the kitchen and the second in the hall.
    private func gateways() -> Table<GatewayIndex, GatewayState> {
        Table(
            [kitchen, hall].map { room in
                var state = GatewayState(name: "g\(room.number)")
                (state.room, state.isListening, state.sendsAlways) = (room, true, true)
                (state.acquaintance, state.lastMessage) = (.known, seconds(0))
                return state
            })
    }

    private func places() -> Table<RoomIndex, Room> {
        Table(
            (0..<2).map {
                Room(name: .named("R\($0)"), gateways: [GatewayIndex(number: $0)])
            })
    }

    /// One second in which the gateways hear the tag with these levels.
    private func window(
        _ tag: inout Rooms.Tag, _ levels: [Float], _ observation: inout Observation,
        _ learned: Table<RoomIndex, RoomKnowledge>,
        at now: MonotonicInstant
    ) {
        for (number, level) in levels.enumerated() {
            let heard = HeardLevel(
                gateway: GatewayIndex(number: number), packets: 1, level: level, at: now)
            tag.hear(heard, longestPause: 600, LevelCourseTuning())
        }
        observation.gather(&tag, gateways(), elapsed: 1, at: now)
        tag.senseMovement(in: observation.window, gateways(), at: now, RoomTuning())
        observation.chooseRooms(for: &tag, gateways(), places(), learned, trained: [])
        observation.weigh(&tag, gateways(), places(), learned)
        tag.judged = now
    }

    private func observation() -> Observation {
        var observation = Observation(RoomTuning())
        for _ in 0..<2 { observation.addGateway() }
        return observation
    }

    private func knowledge() -> Table<RoomIndex, RoomKnowledge> { Table([RoomKnowledge(), RoomKnowledge()]) }

    @Test func `Of equally probable rooms the first is the best`() {
        var belief = Belief()
        #expect(belief.best == nil)
        belief.replace(by: [
            RoomBelief(room: hall, support: 1, probability: 0.5),
            RoomBelief(room: kitchen, support: 1, probability: 0.5),
        ])
        #expect(belief.best?.room == hall)
        belief.remove(hall)
        #expect(belief.best?.room == kitchen && belief.probability(of: hall) == 0)
        belief.settle(on: hall)
        #expect(belief.rooms.map(\.probability) == [1])
    }

    @Test func `The window fits the room whose gateway hears the tag better`() {
        var (tag, observation) = (tag(), observation())
        window(&tag, [-60, -75], &observation, knowledge(), at: seconds(1))
        #expect(observation.rooms == [kitchen, hall])
        #expect(observation.evidence[0] > observation.evidence[1])
        #expect(observation.window.heard.count == 2 && observation.labelledShare == 0)
    }

    @Test func `Windows add up: the belief in the room that they fit grows, and probabilities add up to 1`() {
        var (tag, observation, transition) = (tag(), observation(), Transition(RoomTuning()))
        var before: Float = 0
        for second in 1...5 {
            window(&tag, [-60, -66], &observation, knowledge(), at: seconds(Double(second)))
            transition.advance(&tag, observation, knowledge(), Table(), Table(), at: seconds(Double(second)))
            #expect(tag.belief.probability(of: kitchen) > before)
            before = tag.belief.probability(of: kitchen)
            #expect(abs(tag.belief.rooms.reduce(0) { $0 + $1.probability } - 1) < 1e-5)
        }
        #expect(tag.belief.best?.support == 5)
    }

    @Test func `One window moves the log odds by no more than its cap`() throws {
        var tuning = RoomTuning()
        tuning.transition.windowCap = 1
        var (tag, observation, transition) = (tag(), observation(), Transition(tuning))
        window(&tag, [-40, -94], &observation, knowledge(), at: seconds(1))
        transition.advance(&tag, observation, knowledge(), Table(), Table(), at: seconds(1))
        let odds = tag.belief.probability(of: kitchen) / tag.belief.probability(of: hall)
        #expect(FixedMath.log(odds) <= 1.001, "\(odds)")
    }

    @Test func `A tag moves with its first window, lies still, and moves when its levels change`() throws {
        var (tag, observation) = (tag(), observation())
        for second in 1...60 { window(&tag, [-60, -75], &observation, knowledge(), at: seconds(Double(second))) }
        #expect(tag.movement.moved == seconds(1))
        #expect(tag.movement.restSeconds(at: seconds(60)) == 59)
        for second in 61...80 { window(&tag, [-75, -60], &observation, knowledge(), at: seconds(Double(second))) }
        #expect(try #require(tag.movement.moved) > seconds(60))
        tag.forgetRest()
        #expect(tag.movement.moved == nil)
    }

    @Test func `A training run teaches its room, from a second after its begin until its end`() {
        var (tag, observation, learning) = (tag(), observation(), Learning(RoomTuning()))
        for _ in 0..<2 { learning.addRoom() }
        learning.move(to: [:], tags: 1)
        let index = TagIndex(number: 0)
        learning.beginTraining(index, in: hall, for: Duration.seconds(10), at: seconds(0), places())
        #expect(learning.trainedRoom(of: index) == hall && learning.trainedRooms(at: seconds(1)) == [hall])
        func lesson(at time: Double) -> String {
            window(&tag, [-60, -75], &observation, learning.rooms, at: seconds(time))
            switch learning.train(index, observation, gateways(), at: seconds(time)) {
            case .none: return "none"
            case .early: return "early"
            case .learned(let room, let isFirst): return "\(room.number) \(isFirst)"
            }
        }
        #expect([1, 2, 3, 10.5, 11].map(lesson) == ["early", "1 true", "1 false", "none", "none"])
        #expect(learning.rooms[hall].labelled.seconds == 2 && learning.rooms[kitchen].labelled.count == 0)
        #expect(learning.trainedRoom(of: index) == nil)
    }

    @Test func `The windows after a window make its room certain: the backward step`() {
        var learner = Learner()
        // Two windows that fit both rooms, and then three that fit the hall alone.
        for (evidence, belief) in [(0, 0.5), (0, 0.5), (4, 0.9), (4, 0.99), (4, 1)] as [(Float, Float)] {
            learner.rooms.append(Learner.RoomWeight(room: kitchen, evidence: 0, belief: 1 - belief))
            learner.rooms.append(Learner.RoomWeight(room: hall, evidence: evidence, belief: belief))
            learner.windows.append(Learner.Window(levels: 0, rooms: 2, seconds: 1, elapsed: 1))
        }
        var smoother = Smoother()
        smoother.findCertainWindows(in: learner, 2, RoomTuning())
        #expect(smoother.certain.map(\.window) == [1, 0])
        #expect(smoother.certain.allSatisfy { $0.room == hall })
    }
}
