import Base
import JSON
import Regions

/// One setting: its name, the effect of a change, its default, its words, how it is read and how it is shown. A new
/// setting is one row of the table below (`sections`) and one property of `Configuration`.
struct Setting: Sendable {
    typealias Words = @Sendable () -> String
    typealias Shown = @Sendable (Configuration) -> JSONValue
    typealias ShownOfTracker = @Sendable (TrackerConfiguration, NumberBase) -> JSONValue
    typealias Read = @Sendable (inout MemberReader, inout Configuration) -> Void
    typealias Path<Value> = any WritableKeyPath<Configuration, Value> & Sendable

    /// A member of `rooms` has its path: `rooms.site`.
    let name: String
    /// When a change takes effect in each service.
    let effects: SettingEffects
    /// As it would be written in JSON5: the default, or an example.
    let value: String
    /// Whether writing `value` changes nothing. Otherwise `value` is an example.
    let isDefault: Bool
    /// The text for the user: what `config default` and the manual page say of the setting. What is in backticks is the
    /// name of a setting (a member of `rooms` with its path), a command, or to be typed as it stands. A full stop and a
    /// space end a sentence. Line breaks mean nothing. A closure, because the words of a row can name other rows.
    let words: Words
    /// Sets the property if the member is there and valid; otherwise, the default stays. Nil for a setting that
    /// `ConfigurationReader` or `TrackerReader` reads together with others.
    let read: Read?
    /// The value in force. Secrets are hidden.
    let shown: Shown
    /// The value of one tracker; nil for a setting that is not part of an identity.
    let shownOfTracker: ShownOfTracker?
    /// The settings inside an object, such as those of `rooms`; empty for any other setting.
    let members: [Setting]
    /// The value that was set, without what follows from other settings; nil if that is `shown`.
    private(set) var own: Shown?
    /// The secrets behind a value that `shown` hides.
    private(set) var secrets: (@Sendable (Configuration) -> [Secret?])?
    /// Copies the value of the first configuration into the second. So a setting that needs a restart stays until then.
    private(set) var keep: (@Sendable (Configuration, inout Configuration) -> Void)?

    private init(
        _ name: String, _ effects: SettingEffects, _ value: String, isDefault: Bool, _ words: @escaping Words,
        read: Read?, shown: @escaping Shown, ofTracker: ShownOfTracker? = nil, members: [Setting] = []
    ) {
        (self.name, self.effects, self.value, self.isDefault) = (name, effects, value, isDefault)
        (self.words, self.read, self.shown, self.members) = (words, read, shown, members)
        shownOfTracker = ofTracker
    }

    /// The last part of the name, as in a file.
    var member: String { String(name.split(separator: ".").last ?? "") }

    /// The default file, in its order.
    static let sections: [(title: String, settings: [Setting])] = [
        ("The broker", broker), ("Who this gateway is", identity), ("Where it stands", place),
        ("What it listens to", listening), ("Near and gone", presence), ("What it does with it", services),
    ]

    /// All settings of the top level, in the order of the default file.
    static let all = sections.flatMap(\.settings)

    /// One row for each setting. Instead of an object, its settings.
    static let rows = all.flatMap { $0.members.isEmpty ? [$0] : $0.members }

    /// Settings that `setConfiguration` must not change: the radios, files and ports on this computer, trusted
    /// authorities and keys. A member of `rooms` has its path.
    static let localNames: Set<String> = [
        "scanner", "adapter", "http", "bluetoothProxy", "tls", "caFile", "clientCertificateFile", "clientKeyFile",
        "passwordFile",
        "encryptionKey", "encryptionKeyFile", "remoteConfiguration", "remoteConfigurationTrial", "rooms.http",
        "rooms.encryptionKey", "rooms.encryptionKeyFile", "rooms.plainState",
    ]

    /// Every name that is accepted at the top level, whether it is in the default file or only a phone's.
    static let names = all.map(\.name) + alsoRead

    /// The members with the names of today. Some exports call `tid` `trackerId`.
    static func currentNames(_ members: [String: JSONValue]) -> [String: JSONValue] {
        guard let trackerID = members["trackerId"] else { return members }
        var renamed = members
        renamed["trackerId"] = nil
        if renamed["tid"] == nil { renamed["tid"] = trackerID }
        return renamed
    }

    /// Settings that are read but not in the default file, because they come from phones.
    private static let alsoRead = [
        "_type", "auth", "usePassword", "ws", "allowinvalidcerts", "allowUntrustedCertificates", "clientpkcs",
        "passphrase", "servercer", "tlsCaCrt", "tlsCaCrtPath", "tlsClientCrt", "tlsClientCrtPath",
        "tlsClientCrtPassword",
    ]
}

extension Setting {
    /// Names of settings, for words: `a`, `b` and `c`.
    static func list(_ names: [String]) -> String {
        let names = names.map { "`\($0)`" }
        return (names.dropLast(2) + [names.suffix(2).joined(separator: " and ")]).joined(separator: ", ")
    }
}

// MARK: What only some rows have

extension Setting {
    func own(_ own: @escaping Shown) -> Setting {
        var row = self
        row.own = own
        return row
    }

    func secrets(_ secrets: @escaping @Sendable (Configuration) -> [Secret?]) -> Setting {
        var row = self
        row.secrets = secrets
        return row
    }

    func keep(_ keep: @escaping @Sendable (Configuration, inout Configuration) -> Void) -> Setting {
        var row = self
        row.keep = keep
        return row
    }

    /// `keep` for a setting that is one property.
    func keep<Value>(_ path: Path<Value>) -> Setting {
        keep { $1[keyPath: path] = $0[keyPath: path] }
    }

    /// `keep` for a property of `rooms`.
    func keep<Value>(inRooms path: any WritableKeyPath<RoomsSettings, Value> & Sendable) -> Setting {
        keep { running, new in
            if let rooms = running.rooms { new.rooms?[keyPath: path] = rooms[keyPath: path] }
        }
    }
}

// MARK: The kinds of rows

extension Setting {
    /// A setting whose default is that of its property in `Configuration`.
    private static func property(
        _ name: String, _ effects: SettingEffects, _ words: @escaping Words, read: @escaping Read,
        shown: @escaping Shown
    ) -> Setting {
        let standard = Configuration(broker: Broker(clientID: ""), trackers: [], room: "")
        return Setting(name, effects, shown(standard).text, isDefault: true, words, read: read, shown: shown)
    }

    /// A setting with a default.
    ///
    /// - Parameter value: The default, as it would be written in JSON5.
    static func setting(
        _ name: String, _ effects: SettingEffects, _ value: String, _ words: @autoclosure @escaping Words,
        read: Read? = nil,
        shown: @escaping Shown
    ) -> Setting {
        Setting(name, effects, value, isDefault: true, words, read: read, shown: shown)
    }

    /// A setting without a default, or with one that depends on other settings.
    ///
    /// - Parameter value: An example, as it would be written in JSON5.
    static func example(
        _ name: String, _ effects: SettingEffects, _ value: String, _ words: @autoclosure @escaping Words,
        read: Read? = nil,
        shown: @escaping Shown
    ) -> Setting {
        Setting(name, effects, value, isDefault: false, words, read: read, shown: shown)
    }

    /// True or false.
    static func flag(
        _ name: String, _ effects: SettingEffects, _ path: Path<Bool>, _ words: @autoclosure @escaping Words
    ) -> Setting {
        property(
            name, effects, words,
            read: { reader, configuration in
                if let flag = reader.flag(name) { configuration[keyPath: path] = flag }
            },
            shown: { .bool($0[keyPath: path]) })
    }

    /// Seconds, with fractions down to a millisecond.
    static func seconds(
        _ name: String, _ effects: SettingEffects, _ path: Path<Duration>, in range: ClosedRange<Double>,
        _ words: @autoclosure @escaping Words
    ) -> Setting {
        property(
            name, effects, words,
            read: { reader, configuration in
                guard let seconds = reader.number(name, range, ", in seconds") else { return }
                configuration[keyPath: path] = .milliseconds(Int64((seconds * 1000).rounded()))
            },
            shown: { .plain($0[keyPath: path].inSeconds) })
    }

    /// The longest time between two messages as a whole number of units; 0 sends none.
    static func interval(
        _ name: String, _ effects: SettingEffects, _ path: Path<Duration?>, unit: Duration,
        named unitName: String, in range: ClosedRange<Int64>, _ words: @autoclosure @escaping Words
    ) -> Setting {
        property(
            name, effects, words,
            read: { reader, configuration in
                guard let count = reader.whole(name, range, ", in \(unitName) (0 sends none)") else { return }
                configuration[keyPath: path] = count == 0 ? nil : unit * count
            },
            shown: { .whole(($0[keyPath: path] ?? .zero) / unit) })
    }

    /// A text without a default.
    static func text(
        _ name: String, _ effects: SettingEffects, _ path: Path<String?>, example value: String,
        _ words: @autoclosure @escaping Words
    ) -> Setting {
        Setting(
            name, effects, value, isDefault: false, words,
            read: { reader, configuration in configuration[keyPath: path] = reader.text(name) },
            shown: { .text($0[keyPath: path]) })
    }

    /// A file that a library opens; a relative path counts from the configuration file.
    static func file(
        _ name: String, _ effects: SettingEffects, _ path: Path<String?>, example value: String,
        _ words: @autoclosure @escaping Words
    ) -> Setting {
        Setting(
            name, effects, value, isDefault: false, words,
            read: { reader, configuration in
                configuration[keyPath: path] = reader.text(name).map(reader.files.resolved)
            },
            shown: { .text($0[keyPath: path]) })
    }

    /// A part of an identity, which `TrackerReader` reads: of the gateway's own at the top level, and of each element of
    /// `trackers`.
    static func identity(
        _ name: String, _ effects: SettingEffects, _ value: String, isDefault: Bool = false,
        _ words: @autoclosure @escaping Words,
        shown: @escaping ShownOfTracker
    ) -> Setting {
        Setting(
            name, effects, value, isDefault: isDefault, words, read: nil,
            shown: { shown($0.trackers[0], $0.numberBase) }, ofTracker: shown)
    }

    /// An object whose members are settings of their own. Its `read` reads them all.
    ///
    /// - Parameter isOn: Whether there is an object; otherwise the value is null.
    static func object(
        _ name: String, members: [Setting], _ words: @autoclosure @escaping Words, read: @escaping Read,
        isOn: @escaping @Sendable (Configuration) -> Bool
    ) -> Setting {
        Setting(
            name, SettingEffects(), "{}", isDefault: true, words, read: read,
            shown: { configuration in
                guard isOn(configuration) else { return .null }
                return .object(Dictionary(uniqueKeysWithValues: members.map { ($0.member, $0.shown(configuration)) }))
            }, members: members)
    }
}

extension JSONValue {
    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}
