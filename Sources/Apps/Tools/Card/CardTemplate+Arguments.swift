import Base
import Configuration
import Glibc
import JSON
import Shell
import System

extension CardTemplate {
    /// The options of both commands.
    static let options = [
        OptionSpecification("site", "SITE", "the site of the gateway (default home)"),
        OptionSpecification("site-key-file", "FILE", "a file whose first line is the key of the site"),
        OptionSpecification("host", "HOST", "the broker, if --config does not name it"),
        OptionSpecification("port", "PORT", "port of the broker (default 1883, or 8883 with --ca-file)"),
        OptionSpecification("ca-file", "FILE", "certificate authority of the broker; the connection is then encrypted"),
        OptionSpecification(
            "region", "DESC", "a region for a gateway without a rooms service: NAME:UUID[:MAJOR[:MINOR]]"),
        OptionSpecification("wifi", "SSID", "the wireless network; without it the machine uses its cable"),
        OptionSpecification("wifi-password-file", "FILE", "a file whose first line is its password (default: ask)"),
        OptionSpecification("country", "CC", "with --wifi: your country, such as DE, whose rules the radio keeps"),
        OptionSpecification("timezone", "ZONE", "such as Europe/Berlin (default: that of this machine)"),
        OptionSpecification("user", "NAME", "a user who may log in over SSH (default: none)"),
        OptionSpecification("ssh-key", "FILE", "with --user: the user's public key"),
        OptionSpecification("archive", "URL", "the signed archive of the package"),
        OptionSpecification("archive-key", "FILE", "its public key, or a .sources file that holds it"),
        OptionSpecification("force", nil, "replace the files of an earlier card"),
    ]

    /// Reads what the options name. Asks only for a password that no file holds.
    init(_ arguments: Arguments, now: Int64) throws(Failure) {
        self.init(archive: try Self.archive(arguments), instance: "\(now)")
        if let path = arguments.value("config") { try take(configuration: path) }
        try takeBroker(arguments)
        try takeSite(arguments)
        if let region = arguments.value("region") {
            members["waypoints"] = [["_type": "waypoint", "desc": .string(region)]]
        }
        timeZone = try Self.timeZone(arguments.value("timezone"))
        if let name = arguments.value("user") {
            guard let keys = arguments.value("ssh-key") else {
                throw Failure(.usage, "--user needs --ssh-key FILE: a card makes no user with a password")
            }
            user = try CardUser(name: name, keys: try FileAccess.readNamed(keys))
        } else if arguments.has("ssh-key") {
            throw Failure(.usage, "--ssh-key goes with --user NAME")
        }
        wiFi = try Self.wiFi(arguments)
    }

    private static func archive(_ arguments: Arguments) throws(Failure) -> CardArchive {
        guard let url = arguments.value("archive") ?? CardArchive.published else {
            throw Failure(
                .usage,
                "no archive of this program is published yet; give one: --archive URL --archive-key FILE "
                    + "(Scripts/repository of the source makes it)")
        }
        guard let file = arguments.value("archive-key") else {
            throw Failure(
                .usage,
                "give the key of the archive: --archive-key FILE; \(url)/\(CardArchive.release).sources holds it")
        }
        return try CardArchive(url: url, key: try FileAccess.readNamed(file))
    }

    /// The members of a file, and the files that it names.
    private mutating func take(configuration path: String) throws(Failure) {
        let settings = try Settings(readingFrom: path, stateDirectory: Settings.defaultStateDirectory)
        members = settings.json.object ?? [:]
        for name in ["deviceId", "room", "adapter"] { members[name] = nil }
        var rooms = members["rooms"]?.object
        for (name, value) in members {
            if let file = value.string, name.hasSuffix("File") { try copy(name, file, beside: path) }
        }
        if let file = rooms?["encryptionKeyFile"]?.string {
            let place = FileAccess.resolve(file, beside: path)
            rooms?["encryptionKeyFile"] = .string("\(BootCard.directory)/site-key")
            replace("site-key", try Self.firstLine(of: place).revealed + "\n")
        }
        if let rooms { members["rooms"] = .object(rooms) }
        guard members["trackers"] == nil else {
            throw Failure(.configuration, "\(path) has trackers; a card has one, whose name is that of the gateway")
        }
    }

    private mutating func copy(_ member: String, _ file: String, beside path: String) throws(Failure) {
        let bytes = try FileAccess.read(FileAccess.resolve(file, beside: path))
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.badData, "\(member) of \(path): \(file) is not a text")
        }
        add(member, text)
    }

    /// A file that a member names. `passwordFile` becomes `password`, `caFile` becomes `ca`.
    mutating func add(_ member: String, _ text: String) {
        let name = String(member.dropLast(4))
        members[member] = .string("\(BootCard.directory)/\(name)")
        replace(name, text)
    }

    mutating func replace(_ name: String, _ text: String) {
        files.removeAll { $0.name == name }
        files.append(BootCard.File(name: name, text: Secret(text)))
        files.sort { $0.name < $1.name }
    }

    private mutating func takeBroker(_ arguments: Arguments) throws(Failure) {
        if let file = arguments.value("ca-file") {
            let bytes = try FileAccess.readNamed(file)
            add("caFile", String(decoding: bytes, as: UTF8.self))
            members["tls"] = true
        }
        try setBroker(
            host: arguments.value("host"), port: arguments.value("port"),
            beside: arguments.has("ca-file") ? "ca-file" : nil)
    }

    /// What the options say of the broker. Whether it has a certificate authority must be known before.
    ///
    /// - Parameter option: An option by which the connection is encrypted; nil: none is given.
    mutating func setBroker(host: String?, port: String?, beside option: String? = nil) throws(Failure) {
        if let text = port {
            guard let port = UInt16(text), port > 0 else {
                throw Failure(.usage, "--port '\(text)' is not a port; write 1 to 65535")
            }
            members["port"] = .integer(Int64(port))
        }
        guard let host else {
            guard members["host"] != nil || members["url"] != nil else {
                throw Failure(.usage, "name the broker: --host HOST, or --config FILE with the settings of all cards")
            }
            return
        }
        let broker = try BrokerHost(given: host)
        try broker.check(beside: option)
        members["host"] = .string(broker.name)
        if let tls = broker.tls { members["tls"] = .bool(tls) }
        guard port == nil else { return }
        let standard: Int64 = members["tls"]?.asBool == true ? 8883 : 1883
        members["port"] = .integer(broker.port.map { Int64($0) } ?? standard)
    }

    private mutating func takeSite(_ arguments: Arguments) throws(Failure) {
        var rooms = members["rooms"]?.object ?? [:]
        if let site = arguments.value("site") { rooms["site"] = .string(site) }
        if !rooms.isEmpty { members["rooms"] = .object(rooms) }
        if let file = arguments.value("site-key-file") { setSiteKey(try Self.firstLine(of: file).revealed) }
    }

    mutating func setSiteKey(_ key: String) {
        var rooms = members["rooms"]?.object ?? [:]
        rooms["encryptionKey"] = nil
        rooms["encryptionKeyFile"] = .string("\(BootCard.directory)/site-key")
        members["rooms"] = .object(rooms)
        replace("site-key", key + "\n")
    }

    private static func wiFi(_ arguments: Arguments) throws(Failure) -> CardWiFi? {
        guard let name = arguments.value("wifi") else {
            for option in ["wifi-password-file", "country"] where arguments.has(option) {
                throw Failure(.usage, "--\(option) goes with --wifi SSID")
            }
            return nil
        }
        guard let country = arguments.value("country") else {
            throw Failure(
                .usage, "--wifi needs --country CC, such as DE: without it the radio of the machine stays off")
        }
        let password = try secret(
            arguments.value("wifi-password-file"), "Password of the network \(name)", option: "wifi-password-file")
        return try CardWiFi(name: name, password: password, country: country)
    }

    /// A secret from a file, or from the person at the terminal.
    static func secret(_ file: String?, _ question: String, option: String) throws(Failure) -> Secret {
        if let file { return try firstLine(of: file) }
        guard isatty(STDIN_FILENO) == 1 else {
            throw Failure(.usage, "standard input is not a terminal; give --\(option) FILE")
        }
        let text = try Dialogue(isInteractive: true).askSecret(question)
        // The service of the machine would not start with an empty one.
        guard !text.isEmpty else {
            throw Failure(.usage, "the answer to '\(question)' is empty; no card was made")
        }
        return Secret(text)
    }

    private static func firstLine(of file: String) throws(Failure) -> Secret {
        let line = try FileAccess.readNamed(file).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard let text = String(validating: line, as: UTF8.self).flatMap(Secret.withoutMark) else {
            throw Failure(.badData, "the first line of \(file) is empty or not UTF-8")
        }
        return Secret(text)
    }

    /// - Returns: nil if this machine does not say its own.
    private static func timeZone(_ given: String?) throws(Failure) -> String? {
        guard let zone = given ?? ownTimeZone else { return nil }
        let isName = zone.utf8.allSatisfy { byte in
            UnicodeScalar(byte).properties.isAlphabetic || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || "/_+-".utf8.contains(byte)
        }
        guard isName, !zone.isEmpty, !zone.hasPrefix("/") else {
            throw Failure(.usage, "--timezone '\(zone)' is not the name of a time zone; write such as Europe/Berlin")
        }
        return zone
    }

    static var ownTimeZone: String? {
        let place = AtomicFile.resolved("/etc/localtime")
        let folder = "/usr/share/zoneinfo/"
        return place.hasPrefix(folder) ? String(place.dropFirst(folder.count)) : nil
    }
}
