import Base
import JSON

/// One setting: its name, its default, its explanation, how it is read and how it is shown. A new setting is one row of
/// the table below (`sections`) and one property of `Configuration`.
struct Setting: Sendable {
    typealias Read = @Sendable (inout MemberReader, inout Configuration) -> Void
    typealias Path<Value> = any WritableKeyPath<Configuration, Value> & Sendable

    let name: String
    /// As it would be written in JSON5: the default, or an example.
    let value: String
    /// Whether writing `value` changes nothing. Otherwise `value` is an example.
    let isDefault: Bool
    /// Plain words, one line each.
    let explanation: [String]
    /// Sets the property if the member is there and valid; otherwise, the default stays. Nil for a setting that
    /// `ConfigurationReader` or `TrackerReader` reads together with others.
    let read: Read?
    /// The value in force. Secrets are hidden.
    let shown: @Sendable (Configuration) -> JSONValue
    /// The value of one tracker; nil for a setting that is no part of an identity.
    let shownOfTracker: (@Sendable (TrackerConfiguration) -> JSONValue)?

    private init(
        _ name: String, _ value: String, isDefault: Bool, _ explanation: [String], read: Read?,
        shown: @escaping @Sendable (Configuration) -> JSONValue,
        ofTracker: (@Sendable (TrackerConfiguration) -> JSONValue)? = nil
    ) {
        self.name = name
        self.value = value
        self.isDefault = isDefault
        self.explanation = explanation
        self.read = read
        self.shown = shown
        shownOfTracker = ofTracker
    }

    /// The default file, in its order.
    static let sections: [(title: String, settings: [Setting])] = [
        ("The broker", broker), ("Who this gateway is", identity), ("Where it stands", place),
        ("What it listens to", listening), ("Near and gone", presence), ("What it does with it", services),
    ]

    /// All settings, in the order of the default file.
    static let all = sections.flatMap(\.settings)

    /// Every name that is no error, whether it is in the default file or only a phone's.
    static let names = all.map(\.name) + alsoRead

    /// Read, but not worth a line in the default file: they come from phones.
    private static let alsoRead = [
        "_type", "auth", "usePassword", "ws", "allowinvalidcerts", "allowUntrustedCertificates", "clientpkcs",
        "passphrase", "servercer", "tlsCaCrt", "tlsCaCrtPath", "tlsClientCrt", "tlsClientCrtPath",
        "tlsClientCrtPassword",
    ]
}

// MARK: The kinds of rows

extension Setting {
    /// A setting whose default is that of its property in `Configuration`.
    private static func property(
        _ name: String, _ explanation: [String], read: @escaping Read,
        shown: @escaping @Sendable (Configuration) -> JSONValue
    ) -> Setting {
        let standard = Configuration(broker: Broker(clientID: ""), trackers: [], room: "")
        return Setting(name, shown(standard).text, isDefault: true, explanation, read: read, shown: shown)
    }

    /// A setting with a default.
    ///
    /// - Parameter value: The default, as it would be written in JSON5.
    static func setting(
        _ name: String, _ value: String, _ explanation: String..., read: Read? = nil,
        shown: @escaping @Sendable (Configuration) -> JSONValue
    ) -> Setting {
        Setting(name, value, isDefault: true, explanation, read: read, shown: shown)
    }

    /// A setting without a default, or with one that depends on other settings.
    ///
    /// - Parameter value: An example, as it would be written in JSON5.
    static func example(
        _ name: String, _ value: String, _ explanation: String..., read: Read? = nil,
        shown: @escaping @Sendable (Configuration) -> JSONValue
    ) -> Setting {
        Setting(name, value, isDefault: false, explanation, read: read, shown: shown)
    }

    /// True or false.
    static func flag(
        _ name: String, _ path: Path<Bool>, _ explanation: String...
    ) -> Setting {
        property(
            name, explanation,
            read: { reader, configuration in
                if let flag = reader.flag(name) { configuration[keyPath: path] = flag }
            },
            shown: { .bool($0[keyPath: path]) })
    }

    /// Seconds, with fractions down to a millisecond.
    static func seconds(
        _ name: String, _ path: Path<Duration>, in range: ClosedRange<Double>,
        _ explanation: String...
    ) -> Setting {
        property(
            name, explanation,
            read: { reader, configuration in
                guard let seconds = reader.number(name, range, ", in seconds") else { return }
                configuration[keyPath: path] = .milliseconds(Int64((seconds * 1000).rounded()))
            },
            shown: { .plain($0[keyPath: path].inSeconds) })
    }

    /// The longest time between two messages as a whole number of units; 0 sends none.
    static func interval(
        _ name: String, _ path: Path<Duration?>, unit: Duration,
        named unitName: String, in range: ClosedRange<Int64>, _ explanation: String...
    ) -> Setting {
        property(
            name, explanation,
            read: { reader, configuration in
                guard let count = reader.whole(name, range, ", in \(unitName) (0 sends none)") else { return }
                configuration[keyPath: path] = count == 0 ? nil : unit * count
            },
            shown: { .whole(($0[keyPath: path] ?? .zero) / unit) })
    }

    /// A text without a default.
    static func text(
        _ name: String, _ path: Path<String?>, example value: String,
        _ explanation: String...
    ) -> Setting {
        Setting(
            name, value, isDefault: false, explanation,
            read: { reader, configuration in configuration[keyPath: path] = reader.text(name) },
            shown: { .text($0[keyPath: path]) })
    }

    /// A part of an identity, which `TrackerReader` reads: of the gateway's own at the top level, and of each element of
    /// `trackers`.
    static func identity(
        _ name: String, _ value: String, isDefault: Bool = false, _ explanation: String...,
        shown: @escaping @Sendable (TrackerConfiguration) -> JSONValue
    ) -> Setting {
        Setting(
            name, value, isDefault: isDefault, explanation, read: nil, shown: { shown($0.trackers[0]) },
            ofTracker: shown)
    }
}

extension JSONValue {
    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}
