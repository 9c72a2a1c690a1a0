import Identities
import System

/// What is to be stored in the file of the keys of phones.
package struct PhoneKeyChange: Sendable {
    /// The keys of the state directory as the service knows them.
    let known: PhoneKeys
    /// Keys of commands and of the configuration.
    let waiting: [NamedKey]
    /// What the lists of other gateways have.
    let pending: PhoneKeys
    /// Keys of which the radio has learned the order of the octets.
    let learned: [PhoneKey]
    /// Whether keys without a time get one.
    let stamps: Bool
    /// Epoch seconds; nil: the wall clock is not known.
    let time: Int64?

    /// Changes the file. It may wait for the disk.
    package func store(in directory: String) -> PhoneKeyOutcome {
        var problems: [String] = []
        var wasChanged = false
        do throws(Failure) {
            let stored = try PhoneKeyFile.update(in: directory, waits: false) { keys in
                wasChanged = keys != known
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
            }
            guard let stored else { return .busy }
            return .stored(
                stored, stamp: PhoneKeyFile.stamp(in: directory), wasChanged: wasChanged, problems: problems)
        } catch {
            return .failed(error)
        }
    }
}
