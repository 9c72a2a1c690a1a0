import Base
import Configuration
import Health
import JSON
import PageServer
import System

/// "Add a gateway" on the pages: the command that makes a card with what a service knows of the broker and the site, and what the files
/// of that card hold.
///
/// It reads no secret. Where the card has one, its place says what the command takes it from.
struct CardOffer {
    /// What a person chooses. An empty text is no choice.
    struct Choice {
        var room: String
        /// The `deviceId`; empty: from the room.
        var name = ""
        /// The broker as the new gateway reaches it; empty: as the service does.
        var host = ""
        /// The name by which the person reaches the machine of the service, if that is another one; else empty.
        var here = ""
        /// The wireless network; empty: a cable.
        var network = ""
        var country = ""
    }

    private static let asked = "(the password that you are asked for)"
    /// The files that the command names.
    private static let (authority, archiveKey, siteKey) = ("ca.crt", "archive.asc", "site-key")

    /// The words of the command.
    private(set) var words = ["ibeacon-gateway", "card"]
    /// What the command needs, in sentences.
    private(set) var needs: [String] = []
    private var template = CardTemplate(
        archive: CardArchive(shown: CardArchive.published ?? "URL", key: ["(the key in \(CardOffer.archiveKey))"]),
        instance: "(the time)")
    private var entry: CardTemplate.Entry

    /// - Throws: Why there is no such card.
    init(_ configuration: Configuration, _ choice: Choice) throws(Failure) {
        let broker = configuration.broker
        guard broker.endpoint == nil, !broker.isOffline else {
            throw Failure(.configuration, "this service has no MQTT broker that another gateway could use")
        }
        guard broker.clientCertificateFile == nil else {
            throw Failure(
                .configuration,
                "the broker wants a certificate of each client: make the card with --config FILE, which names those of the gateway"
            )
        }
        let name = choice.name.isEmpty ? CardTemplate.name(of: choice.room) : choice.name
        entry = CardTemplate.Entry(name: choice.name.isEmpty ? nil : choice.name, room: choice.room)
        template.timeZone = CardTemplate.ownTimeZone
        words += ["--room", choice.room]
        if !choice.name.isEmpty { words += ["--name", choice.name] }
        if let rooms = configuration.rooms {
            words += ["--site", rooms.site]
            template.members["rooms"] = ["site": .string(rooms.site)]
        }
        try takeBroker(broker, choice)
        if broker.username != nil {
            words += ["--username", name]
            entry.login = (name, Secret(Self.asked))
            needs.append(
                "The command asks for the password of '\(name)' at the broker. Make this login there, with the rights that "
                    + "'sudo ibeacon-gateway acl --gateways \(ShellWord.of(name))' prints here.")
        }
        if configuration.rooms?.hasKey == true {
            words += ["--site-key-file", Self.siteKey]
            template.setSiteKey("(the first line of \(Self.siteKey))")
            needs.append("\(Self.siteKey) is a file whose first line is the key of the site.")
        }
        if !choice.network.isEmpty {
            words += ["--wifi", choice.network, "--country", choice.country]
            template.wiFi = try CardWiFi(name: choice.network, password: Secret(Self.asked), country: choice.country)
            needs.append("The command asks for the password of the network '\(choice.network)'.")
        }
        if CardArchive.published == nil {
            words += ["--archive", "URL"]
            needs.append("URL is the address of your signed archive: no archive of this program is published yet.")
        }
        words += ["--archive-key", Self.archiveKey]
        needs.append("\(Self.archiveKey) is the public key of the archive, or a .sources file that holds it.")
        words.append(CardTemplate.hostName(of: name))
    }

    /// The card that the command would write.
    func card() throws(Failure) -> BootCard { try template.card(for: entry) }

    private mutating func takeBroker(_ broker: Broker, _ choice: Choice) throws(Failure) {
        guard let host = choice.host.isEmpty ? Self.reachable(broker, from: choice.here) : choice.host else {
            throw Failure(
                .usage, "the broker is on this machine: write the name or address by which other machines reach it")
        }
        let place = try BrokerHost(given: host)
        if broker.caFile != nil {
            words += ["--ca-file", Self.authority]
            template.add("caFile", "(the content of \(Self.authority))\n")
            template.members["tls"] = true
            needs.append("\(Self.authority) is the certificate authority of the broker.")
        }
        let isPlain = place.tls == nil && (!broker.tls || broker.caFile != nil)
        let text = isPlain || place.tls != nil ? host : "mqtts://\(host)"
        words += ["--host", text]
        let isStandard = broker.port == (broker.tls ? 8883 : 1883)
        let port = place.port == nil && !isStandard ? "\(broker.port)" : nil
        if let port { words += ["--port", port] }
        try template.setBroker(host: text, port: port)
    }

    /// The broker as other machines reach it; nil if that is not known.
    private static func reachable(_ broker: Broker, from here: String) -> String? {
        broker.hosts.first { !CardTemplate.isOwnMachine($0) } ?? (here.isEmpty ? nil : here)
    }

    /// The command for a shell.
    var command: String { words.map(ShellWord.of).joined(separator: " ") }
}

extension CardOffer {
    /// `/gateway.json?room=ROOM&name=NAME&host=HOST&here=HOST&wifi=SSID&country=CC`
    static func answer(_ configuration: Configuration, _ request: PageRequest) -> PageAnswer {
        guard let room = request.argument("room").map({ String($0[...].trimmed) }), !room.isEmpty else {
            return .refused(status: 400, "say which room: /gateway.json?room=ROOM")
        }
        func chosen(_ name: String) -> String { String((request.argument(name) ?? "")[...].trimmed) }
        let choice = Choice(
            room: room, name: chosen("name"), host: chosen("host"), here: chosen("here"), network: chosen("wifi"),
            country: chosen("country"))
        do throws(Failure) {
            let offer = try CardOffer(configuration, choice)
            let card = try offer.card()
            return .json([
                "command": .string(offer.command), "needs": .array(offer.needs.map { .string($0) }),
                "broker": .optional(reachable(configuration.broker, from: choice.here).map { .string($0) }),
                "files": .array(
                    card.contents.map { ["name": .string($0.name), "text": .string($0.text.revealed)] }),
            ])
        } catch {
            return .refused(status: 422, error.message)
        }
    }
}
