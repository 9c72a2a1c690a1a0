import Base
import Identities
import Shell
import System

/// The keys of phones that are in force, and what the other gateways of the site have.
struct PhoneBook {
    /// The keys of the state directory.
    private(set) var keys = PhoneKeys()
    /// The keys of the credential.
    private var provided: [PhoneKeys.Phone] = []
    /// The state of the file that `keys` are of; nil: there is no file.
    var stamp: FileStamp?
    /// Whether the file was read at least once since the start.
    var isRead = false
    /// The lists of the other gateways, by their names.
    private(set) var lists: [String: PhoneKeys] = [:]
    /// nil: keys are not shared.
    var site: PhoneSite?
    /// Whether this gateway has published its list since the start.
    var hasPublished = false
    /// Checks the file.
    var timer: (any ServiceTimer)?
    /// When each key was heard last, as it was stored: epoch seconds by UUID.
    var heard: [String: Int64] = [:]
    /// When `heard` was stored.
    var stored = MonotonicInstant.zero

    /// All phones; those of the state directory first.
    var phones: [PhoneKeys.Phone] { keys.phones + provided.filter { !keys.phones.has($0.key) } }

    mutating func adopt(_ keys: PhoneKeys, stamp: FileStamp?) { (self.keys, self.stamp, isRead) = (keys, stamp, true) }
    mutating func adopt(provided: [PhoneKeys.Phone]) { self.provided = provided }

    /// - Parameter list: nil: the gateway has deleted its list.
    mutating func setList(_ list: PhoneKeys?, of gateway: String) { lists[gateway] = list }

    mutating func forgetLists() { lists = [:] }

    /// The gateways other than this one that have this phone with this key.
    func gateways(having phone: PhoneKeys.Phone) -> [String] {
        lists.filter { $0.key != site?.gateway && $0.value.phones.has(phone.key) }.keys.sorted()
    }

    /// What another gateway knows and this one does not.
    var missing: Bool {
        var merged = keys
        for list in lists.values { merged.merge(list) }
        return merged.sorted != keys.sorted
    }
}
