import Base

/// The keys of phones and watches by their names, and the names of phones that were removed.
///
/// Their file has a line for each: the key, what is known of it, a blank, and the name. Empty lines, and those that begin
/// with `#`, are passed over.
///
///     EC0234A357C8AD05341010A60A397D9B Jane
///     EC0234A357C8AD05341010A60A397D9C,msb,1700000000 Jane's watch
///     removed,1700000000 John
///
/// `msb` says that the first octet is the most significant one; without it nobody knows. The number is the time of the last
/// change, epoch seconds. By it `merge` decides between the lists of several gateways.
package struct PhoneKeys: Hashable, Sendable {
    package struct Phone: Hashable, Sendable {
        package let name: String
        package fileprivate(set) var key: PhoneKey
        /// Epoch seconds; 0: not known.
        package fileprivate(set) var changed: Int64
    }

    /// A phone that was removed. It is remembered, so that the list of another gateway does not bring it back.
    package struct Removal: Hashable, Sendable {
        package let name: String
        /// Epoch seconds.
        package fileprivate(set) var changed: Int64
    }

    /// Bytes of UTF-8 that a name may have.
    package static let longestName = 200
    /// Removals that are remembered: the latest.
    package static let mostRemovals = IdentityResolver.mostKeys
    /// Bytes of a list: the longest that this program writes has a tenth of it, the rest is for what a person writes beside.
    package static let mostBytes = 1 << 20
    /// Lines with a phone or a removal that are read, twice as many as the program writes.
    package static let mostLines = 2 * (IdentityResolver.mostKeys + mostRemovals)

    package private(set) var phones: [Phone] = []
    package private(set) var removals: [Removal] = []

    package init() {}

    /// Reads the file.
    ///
    /// - Throws: The first mistake, with its line. The text of the line is not shown, because it may have a key in it. Bytes and lines
    ///   are counted first: each line is compared with all phones.
    package init(parsing bytes: [UInt8]) throws(PhoneKeysError) {
        guard bytes.count <= Self.mostBytes else { throw .tooLong(bytes: bytes.count) }
        var rest = bytes[...]
        var (number, count) = (0, 0)
        while !rest.isEmpty {
            number += 1
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(line.count + 1)
            let text = line.drop { $0 == UInt8(ascii: " ") }
            guard let first = text.first, first != UInt8(ascii: "#"), first != UInt8(ascii: "\r") else { continue }
            count += 1
            guard count <= Self.mostLines else { throw .tooManyLines }
            do throws(PhoneKeysError) {
                try read(text)
            } catch {
                throw .inLine(number, "\(error)")
            }
        }
        trimRemovals()
    }

    private mutating func read(_ line: ArraySlice<UInt8>) throws(PhoneKeysError) {
        let head = line.prefix { $0 != UInt8(ascii: " ") }
        let name = String(decoding: line.dropFirst(head.count + 1).filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        let words = String(decoding: head, as: UTF8.self).split(separator: ",", omittingEmptySubsequences: false)
        var (isOrdered, changed) = (false, Int64(0))
        for word in words.dropFirst() {
            if word == "msb" {
                isOrdered = true
            } else if let time = Int64(word), Self.times.contains(time) {
                changed = time
            } else {
                throw .invalidKey(has: "behind it stands what is neither 'msb' nor a time")
            }
        }
        if words[0] == "removed", changed > 0 {
            try check(name)
            // A line that a person wrote has no time, and is newer than the removal.
            guard !phones.contains(where: { $0.name.hasSameBytes(as: name) && $0.changed == 0 }) else { return }
            return merge(Removal(name: name, changed: changed))
        }
        let key = try PhoneKeysError.key(words[0])
        try set(PhoneKey(key, isOrdered: isOrdered), of: name)
        for index in phones.indices where phones[index].name.hasSameBytes(as: name) { phones[index].changed = changed }
    }

    /// Until the year 9999.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799

    /// Adds a phone, or gives one of this name another key, as after a reset of the phone.
    ///
    /// - Parameter time: Epoch seconds; nil: not known.
    package mutating func set(_ key: PhoneKey, of name: String, at time: Int64? = nil) throws(PhoneKeysError) {
        try check(name)
        if let other = phones.first(where: {
            $0.key.key.unordered == key.key.unordered && !$0.name.hasSameBytes(as: name)
        }) {
            throw .sameKey(as: other.name)
        }
        let index = phones.firstIndex { $0.name.hasSameBytes(as: name) }
        let before = index.map { phones[$0].changed } ?? 0
        let phone = Phone(name: name, key: key, changed: later(than: before, name, at: time))
        if let index {
            phones[index] = phone
        } else {
            guard phones.count < IdentityResolver.mostKeys else { throw .tooMany }
            phones.append(phone)
        }
        removals.removeAll { $0.name.hasSameBytes(as: name) }
    }

    /// Later than everything that was known of the name, so that the change holds although a clock was wrong.
    private func later(than before: Int64, _ name: String, at time: Int64?) -> Int64 {
        guard let time else { return before }
        let removed = removals.first { $0.name.hasSameBytes(as: name) }?.changed ?? 0
        let known = [before, removed].filter { !Self.isFuture($0, at: time) }.max() ?? 0
        return min(max(time, known + 1), Self.times.upperBound)
    }

    /// Clocks that are set differ by less than this, seconds.
    private static let clockDifference: Int64 = 86_400
    /// A clock that shows less, epoch seconds, is not set: no version of the program is so old.
    private static let leastClock: Int64 = 1_600_000_000

    private static func isFuture(_ changed: Int64, at now: Int64) -> Bool {
        now >= leastClock && changed > now + clockDifference
    }

    /// Takes changes of the future for the oldest ones. Nobody can have made them yet, and otherwise they would hold against
    /// every change that is made.
    ///
    /// - Parameter now: Epoch seconds.
    package mutating func distrustFuture(at now: Int64) {
        for index in phones.indices where Self.isFuture(phones[index].changed, at: now) { phones[index].changed = 1 }
        for index in removals.indices where Self.isFuture(removals[index].changed, at: now) {
            removals[index].changed = 1
        }
    }

    private func check(_ name: String) throws(PhoneKeysError) {
        guard !name.isEmpty, name.utf8.count <= Self.longestName, !name.contains(":"), PrintableText.line(name) == name,
            name.first != " ", name.last != " "
        else { throw .invalidName }
    }

    /// Removes a phone.
    ///
    /// - Parameter time: Epoch seconds, so that the removal is remembered for other gateways; nil: it is not.
    /// - Returns: Whether there was a phone of this name.
    package mutating func remove(_ name: String, at time: Int64? = nil) -> Bool {
        guard let index = phones.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else { return false }
        if time != nil {
            removals.append(Removal(name: name, changed: later(than: phones[index].changed, name, at: time)))
            trimRemovals()
        }
        phones.remove(at: index)
        return true
    }

    /// Gives a time to phones that a person wrote into the file without one.
    package mutating func stamp(at time: Int64) {
        for index in phones.indices where phones[index].changed == 0 { phones[index].changed = max(1, time) }
    }

    /// Notes in which order the octets of a key are. That is no change of the phone: all gateways find the same.
    package mutating func note(_ key: PhoneKey) {
        guard key.isOrdered else { return }
        for index in phones.indices where phones[index].key.key.unordered == key.key.unordered {
            phones[index].key = key
        }
    }

    // MARK: Several gateways

    /// Takes over what another gateway knows. Of two states of one name the later one holds. All gateways get the same list,
    /// in whichever order they hear of the others.
    package mutating func merge(_ other: PhoneKeys) {
        for removal in other.removals { merge(removal) }
        for phone in other.phones { merge(phone) }
        removeDoubles()
        trimRemovals()
    }

    private mutating func merge(_ removal: Removal) {
        if let index = removals.firstIndex(where: { $0.name.hasSameBytes(as: removal.name) }) {
            removals[index].changed = max(removals[index].changed, removal.changed)
            return
        }
        if let index = phones.firstIndex(where: { $0.name.hasSameBytes(as: removal.name) }) {
            // Of a removal and a key of the same second the removal holds.
            guard phones[index].changed <= removal.changed else { return }
            phones.remove(at: index)
        }
        removals.append(removal)
    }

    private mutating func merge(_ phone: Phone) {
        if let index = removals.firstIndex(where: { $0.name.hasSameBytes(as: phone.name) }) {
            guard phone.changed > removals[index].changed else { return }
            removals.remove(at: index)
        }
        guard let index = phones.firstIndex(where: { $0.name.hasSameBytes(as: phone.name) }) else {
            return phones.append(phone)
        }
        let own = phones[index]
        if own.key.key.unordered == phone.key.key.unordered {
            phones[index] = Phone(
                name: own.name, key: Self.better(own.key, phone.key), changed: max(own.changed, phone.changed))
        } else if (phone.changed, phone.key.key.digits) > (own.changed, own.key.key.digits) {
            phones[index] = phone
        }
    }

    /// Of two forms of one key that whose order is known.
    private static func better(_ first: PhoneKey, _ second: PhoneKey) -> PhoneKey {
        guard first.isOrdered == second.isOrdered else { return first.isOrdered ? first : second }
        return first.key.digits >= second.key.digits ? first : second
    }

    /// One key under two names, which two gateways gave it: the later name holds.
    private mutating func removeDoubles() {
        var latest: [IdentityKey: Phone] = [:]
        for phone in phones {
            guard let other = latest[phone.key.key.unordered] else {
                latest[phone.key.key.unordered] = phone
                continue
            }
            if Self.precedes(other, phone) { latest[phone.key.key.unordered] = phone }
        }
        for phone in phones {
            guard let winner = latest[phone.key.key.unordered], !winner.name.hasSameBytes(as: phone.name)
            else { continue }
            phones.removeAll { $0.name.hasSameBytes(as: phone.name) }
            removals.append(Removal(name: phone.name, changed: max(1, phone.changed)))
        }
        // No list of a gateway is longer, but the lists of all together may be.
        guard phones.count > IdentityResolver.mostKeys else { return }
        phones.sort { Self.precedes($1, $0) }
        phones.removeLast(phones.count - IdentityResolver.mostKeys)
    }

    private static func precedes(_ first: Phone, _ second: Phone) -> Bool {
        guard first.changed == second.changed else { return first.changed < second.changed }
        return first.name.utf8.lexicographicallyPrecedes(second.name.utf8)
    }

    private mutating func trimRemovals() {
        guard removals.count > Self.mostRemovals else { return }
        removals.sort { $0.changed > $1.changed }
        removals.removeLast(removals.count - Self.mostRemovals)
    }

    // MARK: The file

    /// Whether there is nothing to tell.
    package var isEmpty: Bool { phones.isEmpty && removals.isEmpty }

    /// The content of the file.
    package var bytes: [UInt8] { Array((phones.map(\.line) + removals.map(\.line)).joined().utf8) }

    /// The phones alone, without the names of those that were removed.
    package var exported: [UInt8] { Array(phones.map(\.line).joined().utf8) }

    /// The same list in one order, to compare lists of two gateways.
    package var sorted: PhoneKeys {
        var list = self
        list.phones.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        list.removals.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return list
    }
}

extension PhoneKeys.Phone {
    package var uuid: String { "\(key.uuid)" }

    fileprivate var line: String {
        "\(key.key.digits)\(key.isOrdered ? ",msb" : "")\(changed > 0 ? ",\(changed)" : "") \(name)\n"
    }
}

extension PhoneKeys.Removal {
    fileprivate var line: String { "removed,\(changed) \(name)\n" }
}
