package import Identities

/// What is to be stored in the file of the keys of phones (`Gateway.Effect.storePhoneKeys`).
package struct PhoneKeyChange: Sendable {
    /// The keys of the file as the gateway knows them.
    private let known: PhoneKeys
    /// Keys of commands and of the configuration.
    let waiting: [NamedKey]
    /// What the lists of other gateways have.
    let pending: PhoneKeys
    /// Keys of which the radio has learned the order of the octets.
    let learned: [PhoneKey]
    /// Whether keys without a time get one.
    let stamps: Bool
    /// Epoch seconds; nil: the wall clock is not known.
    private let time: Int64?

    package init(
        known: PhoneKeys, waiting: [NamedKey], pending: PhoneKeys, learned: [PhoneKey], stamps: Bool, time: Int64?
    ) {
        (self.known, self.waiting, self.pending) = (known, waiting, pending)
        (self.learned, self.stamps, self.time) = (learned, stamps, time)
    }

    /// Changes the keys that the file has now.
    ///
    /// - Returns: `wasChanged`: another program had changed the file since the gateway read it. `problems`: the keys that could not be
    ///   taken, with the reasons.
    package func apply(to keys: inout PhoneKeys) -> (wasChanged: Bool, problems: [String]) {
        let wasChanged = keys != known
        var problems: [String] = []
        if let time { keys.distrustFuture(at: time) }
        for named in waiting where !keys.phones.has(PhoneKey(named.key)) {
            do throws(PhoneKeysError) {
                try keys.set(PhoneKey(named.key), of: named.name, at: time)
            } catch {
                problems.append("the key of '\(named.name)' was not stored: \(error)")
            }
        }
        if stamps, let time { keys.stamp(at: time) }
        for phone in learned { keys.note(phone) }
        keys.merge(pending)
        return (wasChanged, problems)
    }
}
