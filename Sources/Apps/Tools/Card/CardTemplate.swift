import Base
import Configuration
import JSON
import Shell
import System

/// What all cards of one run of `card` or `cards` have in common.
struct CardTemplate {
    /// What one card has of its own.
    struct Entry {
        /// The `deviceId`; nil: from the room.
        var name: String?
        let room: String
        /// The login at the broker; nil: that of the template.
        var login: (name: String, password: Secret)?
    }

    /// The members of the configuration file.
    var members: [String: JSONValue] = [:]
    /// The files that the configuration names.
    var files: [BootCard.File] = []
    var archive: CardArchive
    var instance: String
    var timeZone: String?
    var user: CardUser?
    var wiFi: CardWiFi?

    /// - Throws: If the card cannot have this configuration.
    func card(for entry: Entry) throws(Failure) -> BootCard {
        let room = entry.room
        let name = entry.name ?? Self.name(of: room)
        guard !name.isEmpty, name.utf8.count <= 64, !name.unicodeScalars.contains(where: Self.isUnfit) else {
            throw Failure(.badData, "'\(name)' cannot be the name of a gateway: 1 to 64 bytes without '+', '#' and '/'")
        }
        var members = members
        var files = files
        members["_type"] = "configuration"
        members["deviceId"] = .string(name)
        if room != name { members["room"] = .string(room) }
        if let login = entry.login {
            members["username"] = .string(login.name)
            members["password"] = nil
            members["passwordFile"] = .string("\(BootCard.directory)/password")
            files.removeAll { $0.name == "password" }
            files.append(BootCard.File(name: "password", text: Secret(login.password.revealed + "\n")))
        }
        try check(members, files, hostName: Self.hostName(of: name))
        files.insert(BootCard.File(name: "config.json", text: Secret(Self.text(of: members))), at: 0)
        return BootCard(
            name: name, hostName: Self.hostName(of: name), instance: instance, archive: archive, files: files,
            timeZone: timeZone, user: user, wiFi: wiFi)
    }

    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        "+#/".unicodeScalars.contains(scalar) || scalar.properties.generalCategory == .control
    }

    /// The machine's own settings must be found wrong here, where a person is, and not in the room.
    private func check(
        _ members: [String: JSONValue], _ files: [BootCard.File], hostName: String
    ) throws(Failure) {
        let known = ConfigurationFiles { path throws(ConfigurationFiles.Problem) in
            guard let file = files.first(where: { "\(BootCard.directory)/\($0.name)" == path }) else {
                throw ConfigurationFiles.Problem("\(path) is not on the card")
            }
            return Secret(String(file.text.revealed.prefix { !$0.isNewline }))
        }
        let configuration: Configuration
        do throws(ConfigurationError) {
            configuration = try Configuration(.object(members), hostName: hostName, files: known)
        } catch {
            throw Failure(.configuration, "the card cannot have this configuration: \(error)")
        }
        let hosts = configuration.broker.hosts
        if configuration.broker.endpoint == nil, hosts.contains(where: Self.isOwnMachine) {
            throw Failure(
                .usage,
                "the broker is '\(hosts[0])', which on a card is the card's own machine; name the broker: --host HOST"
            )
        }
    }

    static func isOwnMachine(_ host: String) -> Bool {
        host == "localhost" || host.hasPrefix("127.") || host == "::1" || host == "[::1]"
    }

    /// The configuration file: a member in each line.
    private static func text(of members: [String: JSONValue]) -> String {
        let lines = members.sorted { $0.key < $1.key }.map { "    \($0.key): \($0.value.text),\n" }
        return
            "// Made by: ibeacon-gateway card. All settings, explained: man ibeacon-gateway.json\n{\n\(lines.joined())}\n"
    }

    /// The room as a topic level: `Living room` becomes `living-room`.
    static func name(of room: String) -> String {
        let parts = room.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }
        return parts.isEmpty ? "gateway" : parts.joined(separator: "-")
    }

    /// The name of the machine (RFC 1123): small letters, digits and single `-`, at most 63.
    static func hostName(of name: String) -> String {
        let parts = name.lowercased().utf8.split { byte in
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            return !isLetter && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        let text = parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-").prefix(60)
        return text.isEmpty ? "gateway" : text.last == "-" ? String(text.dropLast()) : String(text)
    }
}
