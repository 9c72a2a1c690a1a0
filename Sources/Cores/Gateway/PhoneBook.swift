import Base
package import Identities

/// The keys of phones that are in force, what the other gateways of the site have, and what is still to be stored.
struct PhoneBook: Sendable {
    /// The keys of the state directory.
    private(set) var keys = PhoneKeys()
    /// The keys of the credential.
    private var provided: [PhoneKeys.Phone] = []
    /// Whether the file was read at least once since the start.
    private(set) var isRead = false
    /// The lists of the other gateways, each in one order, by their names.
    private var lists: [String: PhoneKeys] = [:]
    /// What those lists have and `keys` does not.
    private(set) var pending = PhoneKeys()
    /// Keys of commands and of the configuration that are not stored yet, each name once.
    private(set) var waiting: [NamedKey] = []
    /// The change that is being stored.
    private var storing: PhoneKeyChange?
    /// The lists that were answered, by their gateways: an older one is answered once.
    private var answered: [String: PhoneKeys] = [:]

    /// All phones; those of the state directory first.
    var phones: [PhoneKeys.Phone] { keys.phones + provided.filter { !keys.phones.has($0.key) } }

    /// Adopts what somebody has written into the file. The lists of the other gateways are compared anew: a line that was
    /// deleted by hand comes back.
    mutating func adopt(_ keys: PhoneKeys) {
        (self.keys, isRead) = (keys, true)
        pending = PhoneKeys()
        // Most lists are the same.
        for list in Set(lists.values) { learn(list) }
    }

    mutating func adopt(provided: [PhoneKeys.Phone]) { self.provided = provided }

    /// Whether a change is being stored.
    var isStoring: Bool { storing != nil }
    /// Whether anything waits beside it.
    var hasWaiting: Bool { !waiting.isEmpty || !pending.isEmpty }

    /// Begins to store what is new: what waits, the times of keys that have none, and the orders of keys that were learned. What
    /// comes from now on is another change.
    ///
    /// - Parameters:
    ///   - learned: The keys as the radio knows them.
    ///   - isShared: Whether keys have times: they are shared with the gateways of a site.
    ///   - time: Epoch seconds; nil: the wall clock is not known.
    /// - Returns: nil if nothing is new, or a change is being stored.
    mutating func begin(learned: [PhoneKey], isShared: Bool, at time: Int64?) -> PhoneKeyChange? {
        guard !isStoring else { return nil }
        let unstamped = isShared && time != nil && keys.phones.contains { $0.changed == 0 }
        let learned = learned.filter { phone in
            phone.isOrdered
                && keys.phones.contains { $0.key.key.unordered == phone.key.unordered && !$0.key.isOrdered }
        }
        guard unstamped || !learned.isEmpty || hasWaiting else { return nil }
        let change = PhoneKeyChange(
            known: keys, waiting: waiting, pending: pending, learned: learned, stamps: unstamped, time: time)
        (storing, pending, waiting) = (change, PhoneKeys(), [])
        return change
    }

    /// The change was not stored: what it has waits again.
    mutating func giveBack() {
        guard let change = storing else { return }
        storing = nil
        pending.merge(change.pending)
        let later = waiting
        waiting = change.waiting
        for key in later { _ = add(waiting: key) }
    }

    /// Adopts the file in which the change was stored.
    ///
    /// - Parameter wasChanged: Whether another program had changed it.
    mutating func adoptStored(_ keys: PhoneKeys, wasChanged: Bool) {
        storing = nil
        let later = pending
        if wasChanged { adopt(keys) } else { (self.keys, isRead) = (keys, true) }
        pending.merge(later)
    }

    /// - Parameter list: nil: the gateway has deleted its list.
    mutating func setList(_ list: PhoneKeys?, of gateway: String) {
        guard let list = list?.sorted else {
            lists[gateway] = nil
            return
        }
        if lists[gateway] != nil || lists.count < Self.mostLists { lists[gateway] = list }
        learn(list)
    }

    /// Whether the list of another gateway is older than the own one: it lacks something that this gateway has. Each is answered once.
    mutating func answers(_ list: PhoneKeys, of gateway: String) -> Bool {
        let list = list.sorted
        guard answered[gateway] != list else { return false }
        var merged = list
        merged.merge(keys)
        guard merged.sorted != list else {
            answered[gateway] = nil
            return false
        }
        guard answered[gateway] != nil || answered.count < Self.mostLists else { return false }
        answered[gateway] = list
        return true
    }

    /// Lists that are kept, to show which gateways have a phone; the keys of all others are taken, too.
    private static let mostLists = 250

    /// Notes a list that has something new. This list alone is compared: in a site of many gateways all lists arrive at once.
    private mutating func learn(_ list: PhoneKeys) {
        guard list != keys.sorted else { return }
        var merged = keys
        merged.merge(list)
        if merged.sorted != keys.sorted { pending.merge(list) }
    }

    mutating func forgetLists() { (lists, pending, answered) = ([:], PhoneKeys(), [:]) }

    /// Keeps a key until it is stored. Of two keys of one name the later one holds.
    ///
    /// - Returns: false if as many wait as there may be phones; then the key is not kept.
    mutating func add(waiting key: NamedKey) -> Bool {
        waiting.removeAll { $0.name.hasSameBytes(as: key.name) }
        guard waiting.count < IdentityResolver.mostKeys else { return false }
        waiting.append(key)
        return true
    }

    /// The gateways other than the own one that have this phone with this key.
    func gateways(having phone: PhoneKeys.Phone, besides own: String) -> [String] {
        lists.filter { $0.key != own && $0.value.phones.has(phone.key) }.keys.sorted()
    }
}

extension [PhoneKeys.Phone] {
    /// Whether a phone has this key, in either order.
    package func has(_ key: PhoneKey) -> Bool { contains { $0.key.key.unordered == key.key.unordered } }
}
