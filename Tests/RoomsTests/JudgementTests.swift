import Base
import Beacon
import Regions
import Testing

@testable import Rooms

/// When the most probable room is reported, alone.
@Suite struct JudgementTests {
    private let judgement = Judgement(RoomTuning())
    private let room = RoomIndex(number: 0)
    private var tag = Rooms.Tag(
        TagDescription(id: "jane", name: "Jane", pattern: BeaconPattern(uuid: BeaconUUID(high: 1, low: 2))))

    init() { tag.isHome = true }

    /// The room to be reported of a tag that is in `room` with this probability, after so many readings.
    private mutating func report(_ probability: Float, support: Int16 = 2) -> RoomIndex? {
        tag.belief.replace(by: [RoomBelief(room: room, support: support, probability: probability)])
        return judgement.newRoom(of: &tag, isTrained: false, Table())?.room
    }

    @Test mutating func `Without labels a room is reported from a probability of 0.85 on`() {
        let (less, enough) = (report(0.84), report(0.86))
        #expect(less == nil && enough == room)
    }

    @Test mutating func `One reading is not enough where no gateway hears the tag clearly best`() {
        let (one, two) = (report(1, support: 1), report(1))
        #expect(one == nil && two == room)
    }

    @Test mutating func `The room that is reported already is not reported again`() {
        tag.room = room
        let again = report(1)
        #expect(again == nil)
    }

    @Test mutating func `A tag that is away has no room`() {
        tag.isHome = false
        let away = report(1)
        #expect(away == nil)
    }
}
