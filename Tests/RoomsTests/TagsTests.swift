import Base
import Beacon
import Regions
import RoomsSupport
import SiteProtocol
import Testing

@testable import Rooms

/// Which tags exist, and when their windows end, alone.
@Suite struct TagsTests {
    private var tags = Tags(most: 2, HearingTuning())
    private let tag = TagIndex(number: 0)

    private func seconds(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    private func description(_ id: String, major: UInt16 = 1) -> TagDescription {
        TagDescription(
            id: id, name: id, pattern: BeaconPattern(uuid: BeaconUUID(high: 1, low: 2), major: major, minor: 1))
    }

    @Test mutating func `What is known of a tag stays while its id and pattern do, at another index`() {
        _ = tags.replace(by: [description("jane"), description("bob", major: 2)])
        tags[tag].room = RoomIndex(number: 3)
        let moved = tags.replace(by: [description("bob", major: 3), description("jane")])
        #expect(moved == [tag: TagIndex(number: 1)])
        #expect(tags[TagIndex(number: 1)].room == RoomIndex(number: 3) && tags[tag].room == nil)
    }

    @Test mutating func `Of tags with one id the first is taken, and no more than there may be`() {
        _ = tags.replace(by: [description("a"), description("a", major: 2), description("b")])
        #expect(tags.descriptions.map(\.id) == ["a"])
        _ = tags.replace(by: [description("a"), description("b"), description("c")])
        #expect(tags.descriptions.map(\.id) == ["a", "b"])
    }

    @Test mutating func `The first window is a long one, and that of a tag that sends each second a short one`() {
        _ = tags.replace(by: [description("jane")])
        tags.recordPacket(of: tag, sent: seconds(9.9), now: seconds(10))
        #expect(tags.earliestEnd == seconds(10).advanced(bySeconds: HearingTuning().rareGatherSeconds))
        let early = tags.removeEndedWindow(by: seconds(11))
        let ended = tags.removeEndedWindow(by: seconds(11.1))
        #expect(early == nil && ended == tag)
        tags[tag].isPending = false
        tags.recordPacket(of: tag, sent: seconds(11.2), now: seconds(11.2))
        #expect(tags.earliestEnd == seconds(11.2).advanced(bySeconds: HearingTuning().gatherSeconds))
    }

    @Test mutating func `A window that was judged early does not end again`() {
        _ = tags.replace(by: [description("jane")])
        tags.recordPacket(of: tag, sent: seconds(10), now: seconds(10))
        tags[tag].isPending = false
        let ended = tags.removeEndedWindow(by: seconds(20))
        #expect(ended == nil)
    }

    @Test mutating func `A tag is undecided if it was reported in a room and has none`() {
        _ = tags.replace(by: [description("jane"), description("bob")])
        tags[tag].isHome = true
        tags[tag].since = seconds(1)
        let kitchen = RoomName.named("Kitchen")
        func undecided(_ id: String, _ room: RoomName?, isHome: Bool = true) -> Bool {
            !tags.undecided(of: [ReportedTag(id: id, isHome: isHome, room: room)]).isEmpty
        }
        #expect(undecided("jane", kitchen) && !undecided("jane", nil))
        #expect(undecided("bob", nil) && !undecided("bob", kitchen, isHome: false) && !undecided("nobody", kitchen))
    }

    @Test mutating func `It is told whether any tag became a phone`() {
        _ = tags.replace(by: [description("jane")])
        let first = tags.setPhones([BeaconUUID(high: 1, low: 2)])
        let second = tags.setPhones([BeaconUUID(high: 1, low: 2)])
        #expect(first && !second && tags[tag].description.isPhone)
    }
}
