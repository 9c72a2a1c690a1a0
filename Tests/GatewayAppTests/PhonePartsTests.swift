import Base
import Beacon
import Configuration
import Identities
import JSON
import Shell
import Testing

@testable import GatewayApp

/// The rules of the keys of phones, each alone.
@Suite struct PhonePartsTests {
    private static let key = IdentityKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b)
    private static let clock = WallClock(epochOffset: 1_700_000_000_000_000_000, isKnown: true)
    private static let unknown = WallClock(epochOffset: 0, isKnown: false)

    private func instant(_ seconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    private func keys(_ names: String..., at time: Int64? = nil) throws -> PhoneKeys {
        var keys = PhoneKeys()
        for (index, name) in names.enumerated() {
            let key = index == 0 ? Self.key : IdentityKey(high: 3, low: UInt64(index))
            try keys.set(PhoneKey(key), of: name, at: time)
        }
        return keys
    }

    // MARK: When a phone was heard

    @Test func `The time of a phone is stored once, and known after a restart`() throws {
        let phones = try keys("Jane").phones
        var times = PhoneTimes(at: instant(0))
        let hearing = PhoneHearing(phone: phones[0].key, lastHeard: instant(50))
        let bytes = times.update([hearing], of: phones, clock: Self.clock, at: instant(60))
        let again = times.update([hearing], of: phones, clock: Self.clock, at: instant(70))
        #expect(bytes != nil && again == nil)
        let later = PhoneTimes(bytes, at: instant(100))
        #expect(later.lastHeard(phones[0].key, clock: Self.clock, at: instant(100)) == instant(50))
        #expect(later.lastHeard(phones[0].key, clock: Self.unknown, at: instant(100)) == nil)
        // The order of the key was learned since.
        let ordered = PhoneKey(Self.key.reversed, isOrdered: true)
        #expect(later.lastHeard(ordered, clock: Self.clock, at: instant(100)) == instant(50))
    }

    @Test func `Times are stored once an hour, not before the clock is known, and forgotten with their phone`() throws {
        let phones = try keys("Jane", "John").phones
        var times = PhoneTimes(at: instant(0))
        #expect(!times.areDue(at: instant(3599)))
        #expect(times.areDue(at: instant(3600)))
        let hearings = phones.map { PhoneHearing(phone: $0.key, lastHeard: instant(50)) }
        var bytes = times.update(hearings, of: phones, clock: Self.unknown, at: instant(3600))
        #expect(bytes == nil && !times.areDue(at: instant(7199)))
        bytes = times.update(hearings, of: phones, clock: Self.clock, at: instant(3700))
        #expect(bytes != nil)
        bytes = times.update([], of: [phones[1]], clock: Self.clock, at: instant(3800))
        let json = try JSONValue(parsing: try #require(bytes))
        #expect(json.object?.keys.sorted() == ["\(phones[1].key.uuid)"])
        let junk = PhoneTimes(Array("junk".utf8), at: instant(0))
        #expect(junk.lastHeard(phones[0].key, clock: Self.clock, at: instant(1)) == nil)
    }

    // MARK: The own list

    private func site(_ name: String = "home") throws -> PhoneSite {
        let json = try JSONValue(
            parsing: Array("{deviceId: 'hall', rooms: {site: '\(name)', encryptionKey: 'secret'}}".utf8),
            dialect: .json5)
        return try #require(PhoneSite(try Configuration(json, hostName: "hall")))
    }

    @Test func `A list is published from the first phone on, also when the last one is removed`() throws {
        var list = OwnPhoneList()
        #expect(list.publication(of: try keys("Jane")) == nil)
        let isOther = [list.adopt(try site()), list.adopt(try site()), list.adopt(try site("cabin"))]
        #expect(isOther == [true, false, true])
        _ = list.adopt(try site())
        #expect(list.publication(of: PhoneKeys()) == nil)
        let publication = try #require(list.publication(of: try keys("Jane")))
        #expect(publication.topic == "ibeacon-rooms/home/phones/hall")
        #expect(publication.isRetained)
        #expect(SiteSeal.isSealed(publication.payload))
        list.published(isQueued: true, at: instant(0))
        #expect(list.publication(of: PhoneKeys()) != nil)
    }

    @Test func `A list for which the queue has no room is due, and so is one that another client deleted`() throws {
        var list = OwnPhoneList()
        _ = list.adopt(try site())
        list.published(isQueued: false, at: instant(0))
        #expect(list.isDue)
        #expect(list.publication(of: PhoneKeys()) == nil)
        list.published(isQueued: true, at: instant(0))
        #expect(!list.isDue)
        list.demand()
        #expect(list.isDue)
    }

    @Test func `What is not the own list is replaced at once, then with the next check`() throws {
        var list = OwnPhoneList()
        _ = list.adopt(try site())
        var isAtOnce = list.takeBack(within: .seconds(5), at: instant(10))
        #expect(isAtOnce && list.isDue)
        #expect(list.publication(of: PhoneKeys()) != nil)
        list.published(isQueued: true, at: instant(10))
        isAtOnce = list.takeBack(within: .seconds(5), at: instant(14))
        #expect(!isAtOnce && list.isDue)
        isAtOnce = list.takeBack(within: .seconds(5), at: instant(15))
        #expect(isAtOnce)
    }

    // MARK: What is stored

    @Test func `Nothing new is no change, and one change is stored at a time`() throws {
        var book = PhoneBook()
        book.adopt(try keys("Jane"), stamp: nil)
        var change = book.begin(learned: [], isShared: false, at: 100)
        #expect(change == nil)
        let isKept = book.add(waiting: NamedKey(name: "John", key: IdentityKey(high: 3, low: 4)))
        #expect(isKept)
        change = book.begin(learned: [], isShared: false, at: 100)
        #expect(change != nil)
        #expect(book.isStoring && !book.hasWaiting)
        change = book.begin(learned: [], isShared: false, at: 100)
        #expect(change == nil)
        book.giveBack()
        #expect(!book.isStoring && book.waiting.map(\.name) == ["John"])
    }

    @Test func `Keys get a time in a site, as soon as the clock is known, and the order that the radio has learned`()
        throws
    {
        var book = PhoneBook()
        book.adopt(try keys("Jane"), stamp: nil)
        let stranger = PhoneKey(IdentityKey(high: 8, low: 9), isOrdered: true)
        let nothing = [
            book.begin(learned: [], isShared: true, at: nil),
            book.begin(learned: [PhoneKey(Self.key)], isShared: false, at: 100),
            book.begin(learned: [stranger], isShared: false, at: 100),
        ]
        #expect(nothing.allSatisfy { $0 == nil })
        var other = book
        let stamped = book.begin(learned: [], isShared: true, at: 100)
        #expect(stamped?.stamps == true && stamped?.learned.isEmpty == true)
        let ordered = other.begin(learned: [PhoneKey(Self.key, isOrdered: true), stranger], isShared: false, at: nil)
        #expect(ordered?.stamps == false && ordered?.learned == [PhoneKey(Self.key, isOrdered: true)])
    }
}
