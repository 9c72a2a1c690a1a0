import Base
import Beacon
import Configuration
import Identities
import JSON
import Testing

@testable import Gateway

/// The keys of phones: the part of the core, and what it is made of.
@Suite struct PhonesTests {
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

    @Test func `A list for which the queue has no room is due, and so is one that another client deleted`() throws {
        var list = OwnPhoneList()
        list.published(isQueued: false, at: instant(0))
        #expect(list.isDue && !list.isPublished(with: PhoneKeys()))
        list.published(isQueued: true, at: instant(0))
        #expect(!list.isDue)
        list.demand()
        #expect(list.isDue)
    }

    @Test func `What is not the own list is replaced at once, then with the next check`() throws {
        var list = OwnPhoneList()
        var isAtOnce = list.takeBack(within: .seconds(5), at: instant(10))
        #expect(isAtOnce && list.isDue && list.isPublished(with: PhoneKeys()))
        list.published(isQueued: true, at: instant(10))
        isAtOnce = list.takeBack(within: .seconds(5), at: instant(14))
        #expect(!isAtOnce && list.isDue)
        isAtOnce = list.takeBack(within: .seconds(5), at: instant(15))
        #expect(isAtOnce)
    }

    // MARK: The part

    /// What the part decides at an event.
    private func decide(
        _ phones: inout Phones, _ event: PhoneKeyEvent, _ members: String = "", at seconds: Int64 = 0
    ) throws -> [String] {
        let settings = try GatewayHarness.configuration(members)
        return phones.handle(event, over: settings, by: Self.clock, at: instant(seconds)).map(Self.word)
    }

    private static func word(_ effect: Gateway.Effect) -> String {
        switch effect {
        case .storePhoneKeys(let change):
            "store \((change.waiting.map(\.name) + change.pending.phones.map(\.name)).joined(separator: " "))"
        case .phonesInForce(let areOthers): areOthers ? "others in force" : "in force"
        case .publishPhoneList(let keys): "publish \(keys.phones.map(\.name).joined(separator: " "))"
        case .value(let key, _): "value \(key)"
        case .log(let entry): "\(entry.priority): \(entry.text)"
        default: "something else"
        }
    }

    @Test func `A list is published from the first phone on, also when the last one is removed`() throws {
        var phones = Phones()
        var words = try decide(&phones, .site(gateway: "hall")) + decide(&phones, .connected)
        #expect(words.isEmpty)
        words = try decide(&phones, .read(PhoneKeys(), isChange: false)) + decide(&phones, .configured)
        #expect(words == ["in force"])
        words = try decide(&phones, .read(try keys("Jane", at: 100), isChange: true))
        #expect(words == ["others in force", "notice: the keys of phones have changed: 1 phones", "publish Jane"])
        #expect(phones.uuids == [Self.key.uuid, Self.key.reversed.uuid])
        _ = try decide(&phones, .published(isQueued: true))
        words = try decide(&phones, .read(PhoneKeys(), isChange: true))
        #expect(words.last == "publish ")
        #expect(phones.uuids.isEmpty)
    }

    @Test func `Before the file was read the own list is not replaced: it would lack every phone`() throws {
        var phones = Phones()
        let words = try decide(&phones, .site(gateway: "hall")) + decide(&phones, .unusableList(of: "hall"))
        #expect(words.isEmpty)
    }

    @Test func `Without a site no list is published, and keys get no time`() throws {
        var phones = Phones()
        let words =
            try decide(&phones, .read(try keys("Jane"), isChange: true)) + decide(&phones, .connected)
            + decide(&phones, .check(heard: []))
        #expect(words == ["others in force", "notice: the keys of phones have changed: 1 phones"])
    }

    @Test func `A file that cannot be read leaves the phones in force, and says nothing of a change`() throws {
        var phones = Phones()
        _ = try decide(&phones, .read(try keys("Jane"), isChange: false))
        let words = try decide(&phones, .unreadable)
        #expect(words == ["in force"] && phones.inForce.map(\.name) == ["Jane"])
    }

    @Test func `What comes while a change is stored is stored after it; what was not stored, at the next check`() throws
    {
        var phones = Phones()
        _ = try decide(&phones, .read(PhoneKeys(), isChange: false)) + decide(&phones, .site(gateway: "hall"))
        var words = try decide(&phones, .list(try keys("Jane", at: 100), of: "kitchen"))
        #expect(words == ["store Jane"])
        words = phones.take([NamedKey(name: "John", key: IdentityKey(high: 3, low: 4))], by: Self.clock, at: instant(1))
            .map(Self.word)
        #expect(words.isEmpty && phones.isStoring)
        words = try decide(&phones, .stored(try keys("Jane", at: 100), wasChanged: false, problems: []))
        #expect(words == ["others in force", "publish Jane", "store John"])
        words = try decide(&phones, .notStored) + decide(&phones, .check(heard: []))
        #expect(words == ["store John"])
    }

    @Test func `An older list of another gateway is answered with the next check, once`() throws {
        var phones = Phones()
        _ = try decide(&phones, .site(gateway: "hall"))
        _ = try decide(&phones, .read(try keys("Jane", at: 100), isChange: false))
        var words = try decide(&phones, .list(PhoneKeys(), of: "kitchen")) + decide(&phones, .check(heard: []))
        #expect(words == ["publish Jane"])
        _ = try decide(&phones, .published(isQueued: true))
        words = try decide(&phones, .list(PhoneKeys(), of: "kitchen")) + decide(&phones, .check(heard: []))
        #expect(words.isEmpty)
    }

    @Test
    func `What another client publishes as the own list is replaced; what cannot be used as another's is ignored`()
        throws
    {
        var phones = Phones()
        _ = try decide(&phones, .site(gateway: "hall"))
        _ = try decide(&phones, .read(try keys("Jane", at: 100), isChange: false))
        var words = try decide(&phones, .unusableList(of: "kitchen")) + decide(&phones, .check(heard: []))
        #expect(words.isEmpty)
        words = try decide(&phones, .unusableList(of: "hall"))
        #expect(words == ["publish Jane"])
        words = try decide(&phones, .list(PhoneKeys(), of: "hall"))
        #expect(words == ["publish Jane"])
        _ = try decide(&phones, .published(isQueued: true))
        // Deleted: with the next check.
        words = try decide(&phones, .list(nil, of: "hall"))
        #expect(words.isEmpty)
        words = try decide(&phones, .check(heard: []), at: 5)
        #expect(words == ["publish Jane"])
    }

    @Test func `In a site a key of the configuration does not bring back a phone that was removed`() throws {
        let waypoint = "{_type: 'waypoint', rid: 'jane', tst: 1, desc: 'Jane:irk:\(Self.key.digits)'}"
        let members = "waypoints: [\(waypoint)]"
        var removed = try keys("Jane", at: 100)
        _ = removed.remove("Jane", at: 200)
        for (gateway, expected) in [("hall", "warning"), (nil, "store Jane")] {
            var phones = Phones()
            _ = try decide(&phones, .site(gateway: gateway)) + decide(&phones, .read(removed, isChange: false))
            let words = try decide(&phones, .configured, members)
            #expect(words.first?.hasPrefix(expected) == true, "\(words)")
        }
    }

    // MARK: What is stored

    @Test func `Nothing new is no change, and one change is stored at a time`() throws {
        var book = PhoneBook()
        book.adopt(try keys("Jane"))
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
        book.adopt(try keys("Jane"))
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

    @Test func `As many keys wait as there may be phones, and each name once`() {
        var book = PhoneBook()
        for number in 1...251 {
            let key = NamedKey(name: "phone \(number)", key: IdentityKey(high: 1, low: UInt64(number)))
            let isKept = book.add(waiting: key)
            #expect(isKept == (number <= 250))
        }
        let later = NamedKey(name: "phone 7", key: Self.key)
        let isKept = book.add(waiting: later)
        #expect(isKept)
        #expect(book.waiting.count == 250)
        #expect(book.waiting.last == later)
    }
}
