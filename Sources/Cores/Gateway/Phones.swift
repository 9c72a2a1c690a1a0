package import Base
package import Beacon
import Configuration
package import Identities
import OwnTracks

/// The keys of phones: which are in force, which are to be stored, and when the list of this gateway is published.
///
/// The service reads and writes the file (`Gateway.Effect.storePhoneKeys`), seals and opens lists, and publishes
/// (`Gateway.Effect.publishPhoneList`). It says what became of that as `PhoneKeyEvent`.
package struct Phones: Sendable {
    /// How often the service looks at the file, and what is due is done.
    package static let period: Duration = .seconds(5)

    private var book = PhoneBook()
    private var list = OwnPhoneList()
    private var times: PhoneTimes
    /// The name of this gateway in the topics of its site; nil: keys are not shared.
    private var gateway: String?
    /// The keys as the radio knew them at the last check.
    private var learned: [PhoneKey] = []
    /// The UUIDs under which the phones in force are heard. Of a key whose order is not known there are two.
    package private(set) var uuids: Set<BeaconUUID> = []

    /// - Parameter stored: The value of `PhoneTimes.storeKey`; nil: the store has none.
    init(heard stored: [UInt8]? = nil, at now: MonotonicInstant = .zero) { times = PhoneTimes(stored, at: now) }

    /// The phones in force; those of the file first.
    package var inForce: [PhoneKeys.Phone] { book.phones }

    /// Whether a change is being stored.
    package var isStoring: Bool { book.isStoring }

    /// When a phone was heard last, as far as it was stored.
    package func lastHeard(_ key: PhoneKey, clock: WallClock, at now: MonotonicInstant) -> MonotonicInstant? {
        times.lastHeard(key, clock: clock, at: now)
    }

    /// The other gateways that have this phone with this key; nil: keys are not shared.
    package func gateways(having phone: PhoneKeys.Phone) -> [String]? {
        gateway.map { book.gateways(having: phone, besides: $0) }
    }

    // MARK: - Events

    mutating func handle(
        _ event: PhoneKeyEvent, over settings: Configuration, by clock: WallClock, at now: MonotonicInstant
    ) -> [Gateway.Effect] {
        let time = clock.isKnown ? clock.epochSeconds(at: now) : nil
        switch event {
        case .provided(let phones):
            book.adopt(provided: phones)
            return []
        case .read(let keys, let isChange): return adopt(keys, isChange: isChange)
        case .unreadable: return putInForce(areOthers: false)
        case .configured: return takeConfigured(by: settings, at: time) + publication
        case .site(let gateway):
            self.gateway = gateway
            book.forgetLists()
            return []
        case .check(let heard):
            learned = heard.map(\.phone)
            let due = times.areDue(at: now) ? storedTimes(heard, by: clock, at: now) : []
            return due + store(at: time) + (list.isDue ? publication : [])
        case .stopping(let heard): return storedTimes(heard, by: clock, at: now)
        case .stored(let keys, let wasChanged, let problems):
            return adoptStored(keys, wasChanged: wasChanged, problems, at: time)
        case .notStored:
            book.giveBack()
            return []
        case .connected: return publication
        case .published(let isQueued):
            list.published(isQueued: isQueued, at: now)
            return []
        case .list(let keys, let gateway): return receive(keys, of: gateway, at: time, now)
        case .unusableList(let gateway): return isOwn(gateway) ? takeBack(at: now) : []
        }
    }

    // MARK: - The keys in force

    private mutating func adopt(_ keys: PhoneKeys, isChange: Bool) -> [Gateway.Effect] {
        let areOthers = keys != book.keys
        book.adopt(keys)
        let effects = putInForce(areOthers: areOthers)
        guard isChange else { return effects }
        let text = "the keys of phones have changed: \(book.phones.count) phones"
        return effects + [.log(LogEntry(.notice, "phones", text))] + publication
    }

    private mutating func putInForce(areOthers: Bool) -> [Gateway.Effect] {
        uuids = Set(book.phones.flatMap { [$0.key.uuid, $0.key.otherUUID] })
        return [.phonesInForce(areOthers: areOthers)]
    }

    // MARK: - What is stored

    /// Takes the keys of a command.
    mutating func take(_ keys: [NamedKey], by clock: WallClock, at now: MonotonicInstant) -> [Gateway.Effect] {
        take(keys, at: clock.isKnown ? clock.epochSeconds(at: now) : nil)
    }

    /// - Parameter time: Epoch seconds; nil: the wall clock is not known.
    private mutating func take(_ keys: [NamedKey], at time: Int64?) -> [Gateway.Effect] {
        var effects: [Gateway.Effect] = []
        for named in keys where !book.phones.has(PhoneKey(named.key)) && !book.add(waiting: named) {
            effects.append(Self.warning("the key of '\(named.name)' was not stored: \(PhoneKeysError.tooMany)"))
        }
        return effects + store(at: time)
    }

    /// Takes the keys of the configuration. A phone that was given another key since stays so, and in a site one that was
    /// removed: there the removal may be another gateway's.
    private mutating func takeConfigured(by settings: Configuration, at time: Int64?) -> [Gateway.Effect] {
        let keys = settings.trackers.flatMap(\.waypoints.keys)
        guard !keys.isEmpty else { return [] }
        let removals = gateway == nil ? [] : book.keys.removals
        func isRemoved(_ key: NamedKey) -> Bool { removals.contains { $0.name.hasSameBytes(as: key.name) } }
        let warnings = keys.filter(isRemoved).map { named in
            Self.warning("the configuration has a key of '\(named.name)', which was removed; remove it there, too")
        }
        let wanted = keys.filter { named in
            !book.keys.phones.contains { $0.name.hasSameBytes(as: named.name) } && !isRemoved(named)
        }
        return warnings + take(wanted, at: time)
    }

    /// Stores what is new: keys of commands, lists of other gateways, and orders of keys that the radio has learned. If another
    /// program changes the file now, or it cannot be written, all of it waits for the next check; if a change is being stored,
    /// for the end of that.
    private mutating func store(at time: Int64?) -> [Gateway.Effect] {
        book.begin(learned: learned, isShared: gateway != nil, at: time).map { [.storePhoneKeys($0)] } ?? []
    }

    private mutating func adoptStored(
        _ keys: PhoneKeys, wasChanged: Bool, _ problems: [String], at time: Int64?
    ) -> [Gateway.Effect] {
        let areOthers = keys != book.keys
        book.adoptStored(keys, wasChanged: wasChanged)
        var effects = problems.map(Self.warning)
        if areOthers { effects += putInForce(areOthers: true) + publication }
        return book.hasWaiting ? effects + store(at: time) : effects
    }

    private static func warning(_ text: String) -> Gateway.Effect { .log(LogEntry(.warning, "phones", text)) }

    /// Stores when each phone was heard last.
    private mutating func storedTimes(
        _ heard: [PhoneHearing], by clock: WallClock, at now: MonotonicInstant
    ) -> [Gateway.Effect] {
        let bytes = times.update(heard, of: book.phones, clock: clock, at: now)
        return bytes.map { [.value(key: PhoneTimes.storeKey, $0)] } ?? []
    }

    // MARK: - The lists of the site

    private func isOwn(_ gateway: String) -> Bool { self.gateway?.hasSameBytes(as: gateway) == true }

    /// The list of this gateway, if it shares one. Before the file was read it would lack every phone.
    private var publication: [Gateway.Effect] {
        guard gateway != nil, book.isRead, list.isPublished(with: book.keys) else { return [] }
        return [.publishPhoneList(book.keys)]
    }

    /// Something else than the own list stands on its topic.
    private mutating func takeBack(at now: MonotonicInstant) -> [Gateway.Effect] {
        guard list.takeBack(within: Self.period, at: now), !book.isStoring, !book.hasWaiting else { return [] }
        return publication
    }

    private mutating func receive(
        _ received: PhoneKeys?, of gateway: String, at time: Int64?, _ now: MonotonicInstant
    ) -> [Gateway.Effect] {
        guard var keys = received else {
            book.setList(nil, of: gateway)
            if isOwn(gateway) { list.demand() }
            return []
        }
        if let time { keys.distrustFuture(at: time) }
        // The own list of an earlier run has what a lost state lacks.
        book.setList(keys, of: gateway)
        let effects = store(at: time)
        guard isOwn(gateway) else {
            // Its gateway may have been off, or another client repeats what it once said.
            if book.isRead, book.answers(keys, of: gateway) { list.demand() }
            return effects
        }
        book.setList(nil, of: gateway)
        guard book.isRead, keys.sorted != book.keys.sorted else { return effects }
        return effects + takeBack(at: now)
    }
}
