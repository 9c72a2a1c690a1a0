package import Identities

/// What happened to the keys of phones outside the core: to their file, to the lists of the site's gateways, and at the radio.
package enum PhoneKeyEvent: Sendable {
    /// The keys of the credential, which nobody changes while the service runs.
    case provided([PhoneKeys.Phone])
    /// The file was read, because somebody changed it or the settings may have. `isChange`: the stamp of the file is another one.
    case read(PhoneKeys, isChange: Bool)
    /// The file could not be read. What was read before stays in force. The log has the reason.
    case unreadable
    /// The settings in force may have other keys.
    case configured
    /// The gateway belongs to another site, or shares its keys with none (nil). `gateway`: its name in the site's topics.
    case site(gateway: String?)
    /// It is time to look what is due. `heard`: the phones as the radio knows them.
    case check(heard: [PhoneHearing])
    /// The service is about to end.
    case stopping(heard: [PhoneHearing])
    /// The change of a `storePhoneKeys` effect is in the file, which has these keys. `wasChanged`, `problems`: as of
    /// `PhoneKeyChange.apply`.
    case stored(PhoneKeys, wasChanged: Bool, problems: [String])
    /// That change was not stored: another program has the file, or it cannot be written.
    case notStored
    /// The second connection stands.
    case connected
    /// The list of a `publishPhoneList` effect was given to that connection. `isQueued`: there was room for it.
    case published(isQueued: Bool)
    /// The list of this gateway (of an earlier run, or what another client published in its name) or of another one arrived. nil: it was
    /// deleted.
    case list(PhoneKeys?, of: String)
    /// What arrived as the list of this gateway cannot be used.
    case unusableList(of: String)
}
