import Base
import Configuration
import Enrolment
import Gateway
import GatewayApp
import Glibc
import Identities
import JSON
import OwnTracks
import Shell
import Status
import System

/// `phones`: the keys of phones and watches, by which the gateway recognises them under every address.
enum PhonesCommand {
    static let specification = CommandSpecification(
        "phones", operands: "list | add NAME | remove NAME | test NAME | export FILE | import FILE",
        "the keys of phones and watches",
        options: [
            OptionSpecification(
                "key", "FILE",
                with: [
                    ("add", "a file whose first line is the key, in hexadecimal or base64; '-' is standard input")
                ]),
            OptionSpecification(
                "keyboard", nil, with: [("add", "without a key: appear as a keyboard, which Samsung phones list")]),
            OptionSpecification(
                "listen", "SECONDS",
                with: [
                    ("add", "with a key: how long to listen for the phone (default 10; 0: not)"),
                    ("test", "how long to listen (default 30)"),
                ]),
        ],
        examples: [
            ("sudo ibeacon-gateway phones add Jane", "pair with the phone, take its key, and remove the pairing"),
            ("ibeacon-gateway phones add Jane --key jane.key", "store a key, and print the description of a region"),
            ("ibeacon-gateway phones list", "names, UUIDs, when they were heard, and which gateways have them"),
            ("ibeacon-gateway phones test Jane", "whether the key resolves what is heard now"),
            ("ibeacon-gateway phones export phones.keys", "a file for 'phones import' at another gateway"),
        ])

    static let actions = ["list", "add", "remove", "test", "export", "import"]

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let settings = try Settings.load(arguments)
        let words = arguments.operands
        switch (words.first, words.count) {
        case ("list", 1): try list(settings, isJSON: arguments.has("json"))
        case ("add", 2):
            guard arguments.has("key") || !arguments.has("listen") else {
                throw Failure(
                    .usage, "--listen is for a key of --key; without one the command waits until a phone pairs")
            }
            let phone = try add(words[1], arguments, settings)
            if !arguments.has("quiet") {
                let region = ShellWord.quoted("\(words[1]):\(phone.uuid)")
                Terminal.printError(
                    "and for enter and leave: sudo ibeacon-gateway regions add \(region)")
            }
            Terminal.print("\(words[1]):\(phone.uuid)")
        case ("remove", 2): try remove(words[1], arguments, settings)
        case ("test", 2): return try test(words[1], arguments, settings)
        case ("export", 2): try export(to: words[1], arguments, settings)
        case ("import", 2): try importFile(words[1], arguments, settings)
        case (let word?, _) where !actions.contains(word):
            throw Failure(.usage, "phones has no '\(word)'\(hint(for: word, among: actions))")
        case ("list", _): throw Failure(.usage, "phones list takes no '\(words[1])'")
        case (let word?, 3...):
            let name = ShellWord.quoted(words.dropFirst().joined(separator: " "))
            throw Failure(
                .usage, "'\(words[2])' is unexpected; quote a name that contains spaces: phones \(word) \(name)")
        default:
            throw Failure(
                .usage,
                "say what to do: phones list, phones add NAME, phones remove NAME, phones test NAME, "
                    + "phones export FILE, phones import FILE")
        }
        return .ok
    }

    // MARK: - List

    private static func list(_ settings: Settings, isJSON: Bool) throws {
        let phones = try PhoneKeyFile.all(in: settings.stateDirectory)
        let known = heard(settings)
        let rows = phones.map { phone -> JSONValue in
            var members = known["\(phone.key.uuid)"] ?? known["\(phone.key.otherUUID)"] ?? [:]
            members["name"] = .string(phone.name)
            members["uuid"] = .string("\(phone.key.uuid)")
            members["ordered"] = .bool(phone.key.isOrdered)
            return .object(members)
        }
        guard !isJSON else { return Terminal.print(json: JSONValue.array(rows).text) }
        guard !phones.isEmpty else {
            return Terminal.print("none yet; add one with: sudo ibeacon-gateway phones add NAME")
        }
        guard !known.isEmpty else {
            return Terminal.print(Terminal.table(["PHONE", "UUID"], phones.map { [$0.name, "\($0.key.uuid)"] }))
        }
        let now = Clocks.now()
        Terminal.print(
            StatusText.phoneTable(rows.compactMap { StatusSnapshot.PhoneStatus(reading: $0, at: now) }, at: now))
    }

    /// What the running service knows of the phones, by their UUIDs; nothing if it does not run.
    private static func heard(_ settings: Settings) -> [String: [String: JSONValue]] {
        let status = try? StatusClient(stateDirectory: settings.stateDirectory).ask("/status.json")
        let phones = (status?["phones"]?.array ?? []).compactMap(\.object)
        return Dictionary(phones.map { ($0["uuid"]?.string ?? "", $0) }) { first, _ in first }
    }

    // MARK: - Add and remove

    /// Stores the key of a file, or of a phone that is enrolled now.
    static func add(_ name: String, _ arguments: Arguments, _ settings: Settings) throws -> PhoneKey {
        guard arguments.value("key") == nil || !arguments.has("keyboard") else {
            throw Failure(.usage, "with --key nothing pairs, so --keyboard has no meaning; give only one of them")
        }
        // Invalid words must be found before the command listens for the phone, or anybody picks it up.
        var trial = try PhoneKeyFile.read(in: settings.stateDirectory)
        let phone: PhoneKey
        if let file = arguments.value("key") {
            let key = try key(in: file)
            try set(PhoneKey(key), of: name, in: &trial)
            phone = try ordered(key, arguments, settings)
        } else {
            try set(PhoneKey(.random), of: name, in: &trial)
            phone = try enrol(name, arguments, settings)
        }
        try change(settings, arguments) { keys throws(Failure) in try set(phone, of: name, in: &keys) }
        return phone
    }

    private static func key(in file: String) throws(Failure) -> IdentityKey {
        let bytes = try FileAccess.readNamed(file)
        if let key = BondFile.identityKey(in: bytes) { return key }
        if let key = try named(in: bytes, file) { return key }
        // The data of a property list may have several lines; of other files the first line is the key.
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        if case .key(let key) = KeyText.read(bytes) { return key }
        return try mapError({ Failure(.badData, "\(file): \($0)") }) { () throws(PhoneKeysError) in
            try PhoneKeysError.key(String(decoding: line, as: UTF8.self))
        }
    }

    /// The key in an export of Windows' registry or of a Mac's keychain; nil if the file is neither.
    private static func named(in bytes: [UInt8], _ file: String) throws(Failure) -> IdentityKey? {
        let keys = KeyText.named(in: bytes)
        guard keys.count < 2 else {
            throw Failure(.badData, "\(file) has \(keys.count) keys; write that of the phone into a file of its own")
        }
        return keys.first
    }

    private static func set(_ key: PhoneKey, of name: String, in keys: inout PhoneKeys) throws(Failure) {
        do throws(PhoneKeysError) {
            try keys.set(key, of: name, at: Int64(time(nil)))
        } catch {
            throw Failure(.badData, "'\(name)' cannot be added: \(error)")
        }
    }

    /// - Throws: if no phone can have this name.
    static func check(name: String) throws(Failure) {
        var none = PhoneKeys()
        try set(PhoneKey(.random), of: name, in: &none)
    }

    /// Stores the keys of regions that were imported.
    static func add(_ keys: [NamedKey], in directory: String) throws(Failure) {
        try FileAccess.createDirectory(directory)
        _ = try PhoneKeyFile.update(in: directory) { phones throws(Failure) in
            for named in keys where !phones.phones.has(PhoneKey(named.key)) {
                try set(PhoneKey(named.key), of: named.name, in: &phones)
            }
        }
    }

    /// Listens for the phone, to know in which order the octets of its key are.
    private static func ordered(
        _ key: IdentityKey, _ arguments: Arguments, _ settings: Settings
    ) throws -> PhoneKey {
        let duration = try arguments.seconds("listen") ?? .seconds(10)
        guard duration > .zero else { return PhoneKey(key) }
        let isQuiet = arguments.has("quiet")
        if !isQuiet { Terminal.printError("listening up to \(decimal(duration)) s for the phone …") }
        let listener = try PhoneListener.listen(settings, for: key, duration, stopsAtFirst: true)
        guard let isReversed = listener.isReversed else {
            if !isQuiet {
                let reason =
                    listener.problem ?? "none of \(listener.privateAddresses) private addresses fits the key"
                Terminal.printError(
                    "the phone was not heard (\(reason)). The order of the key's octets is not known yet: the UUID is "
                        + "that of the order as given, and a region with it works in either case")
            }
            return PhoneKey(key)
        }
        if !isQuiet {
            let order = isReversed ? "; its octets were given in the other order" : ""
            Terminal.printError("the key fits what is heard now\(order)")
        }
        return PhoneKey(key).ordered(isReversed: isReversed)
    }

    private static func remove(_ name: String, _ arguments: Arguments, _ settings: Settings) throws {
        // The removal is remembered, so that the other gateways of a site remove the phone, too. The command does not know
        // whether the service is one of a site: the site's key may be a credential, which only the service gets.
        try change(settings, arguments) { keys throws(Failure) in
            guard keys.remove(name, at: Int64(time(nil))) else { throw unknown(name, keys) }
        }
        let isConfigured = settings.configuration.trackers.contains { tracker in
            tracker.waypoints.keys.contains { $0.name.hasSameBytes(as: name) }
        }
        if isConfigured { Terminal.printError("the configuration has a key of '\(name)', too; remove it there") }
    }

    private static func unknown(_ name: String, _ keys: PhoneKeys) -> Failure {
        let hint = suggestion(for: name, among: keys.phones.map(\.name)).map { "; did you mean '\($0)'?" }
        return Failure(.badData, "there is no phone '\(name)'\(hint ?? "")")
    }

    // MARK: - Test

    private static func test(_ name: String, _ arguments: Arguments, _ settings: Settings) throws -> ExitCode {
        let phones = try PhoneKeyFile.all(in: settings.stateDirectory)
        guard let phone = phones.first(where: { $0.name.hasSameBytes(as: name) }) else {
            throw unknown(name, try PhoneKeyFile.read(in: settings.stateDirectory))
        }
        let duration = try arguments.seconds("listen") ?? .seconds(30)
        if !arguments.has("quiet") { Terminal.printError("listening for \(decimal(duration)) s …") }
        let listener = try PhoneListener.listen(settings, for: phone.key.key, duration, stopsAtFirst: false)
        if let problem = listener.problem { throw Failure(.unavailable, "nothing could be heard: \(problem)") }
        guard let isReversed = listener.isReversed else {
            Terminal.print(
                "\(name) is not heard: none of \(listener.privateAddresses) private addresses fits its key. Unlock the "
                    + "phone and hold it to the antenna. If it is still not heard, it was reset or replaced and has "
                    + "another key: sudo ibeacon-gateway phones add \(ShellWord.quoted(name)). A phone that is paired with "
                    + "this machine is heard under the address of the pairing (bluetoothctl devices Paired) and not by its key"
            )
            return .unavailable
        }
        let heard = listener.best
        let level = heard.strongest.map { ", at most \($0) dBm" } ?? ""
        Terminal.print("\(name) is heard: \(heard.packets) packets under \(heard.addresses.count) addresses\(level)")
        if !phone.key.isOrdered {
            try change(settings, arguments) { keys throws(Failure) in
                keys.note(phone.key.ordered(isReversed: isReversed))
            }
        }
        return .ok
    }

    // MARK: - Files

    private static func export(to file: String, _ arguments: Arguments, _ settings: Settings) throws {
        let keys = try PhoneKeyFile.read(in: settings.stateDirectory)
        guard file != "-" else {
            guard !Terminal.isInteractive else {
                throw Failure(.usage, "keys are not shown on a terminal; write them to a file, or into a pipe")
            }
            if !keys.phones.isEmpty { Terminal.print(String(decoding: keys.exported.dropLast(), as: UTF8.self)) }
            return
        }
        var status = stat()
        let exists = lstat(file, &status) == 0
        // In a directory such as /tmp the link may be another user's, and root would replace whatever it names.
        guard !exists || status.st_mode & S_IFMT != S_IFLNK else {
            throw Failure(.cannotCreate, "\(file) is a symbolic link; name the file itself, or - for standard output")
        }
        guard !exists || status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.cannotCreate, "\(file) is not a regular file; for a pipe write: phones export - | …")
        }
        do throws(FileError) {
            try AtomicFile.replace(file, by: keys.exported, AtomicFile.Attributes(mode: 0o600))
        } catch {
            throw Failure(error)
        }
        guard !arguments.has("quiet") else { return }
        Terminal.printError(
            "\(keys.phones.count) keys written to \(file); who has them can follow the phones: delete it after the import"
        )
    }

    private static func importFile(_ file: String, _ arguments: Arguments, _ settings: Settings) throws {
        let bytes = try FileAccess.readNamed(file)
        if file != "-", FileAccess.isWorldReadable(file) {
            Terminal.printError("all users can read \(file); delete it after the import")
        }
        let list: PhoneKeys
        do throws(PhoneKeysError) { list = try PhoneKeys(parsing: bytes) } catch {
            throw Failure(.badData, "\(file) cannot be used: \(error)")
        }
        try change(settings, arguments) { keys throws(Failure) in
            for phone in list.phones {
                let same = keys.phones.first { $0.name.hasSameBytes(as: phone.name) }
                guard same?.key.key.unordered == phone.key.key.unordered else {
                    try set(phone.key, of: phone.name, in: &keys)
                    continue
                }
                keys.note(phone.key)
            }
        }
        if !arguments.has("quiet") { Terminal.printError("\(list.phones.count) keys taken") }
    }

    private static func change(
        _ settings: Settings, _ arguments: Arguments, _ change: (inout PhoneKeys) throws(Failure) -> Void
    ) throws {
        try FileAccess.createDirectory(settings.stateDirectory)
        _ = try PhoneKeyFile.update(in: settings.stateDirectory, change)
        guard !arguments.has("quiet") else { return }
        Terminal.printError("a running service takes the change within seconds")
    }
}
