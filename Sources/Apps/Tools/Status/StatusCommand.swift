import Base
import Configuration
import JSON
import RoomsApp
import Shell
import Status
import System

/// `status`: the state of the running service.
enum StatusCommand {
    static let specification = CommandSpecification(
        "status", "show the state of the running service",
        options: [
            OptionSpecification(
                "address", "HOST:PORT", "query the page at this address over TCP, and send it the token"),
            OptionSpecification(
                "link", nil, "print a link that opens the page once, within ten minutes, and its QR code on a terminal"),
            OptionSpecification("explain", "REGION", "explain why this region (name or RID) is occupied or not"),
            OptionSpecification(TimeText.Zone.option, nil, TimeText.Zone.help),
            OptionSpecification(
                "token", nil, "print the token for the status page; create it if it does not exist"),
        ],
        examples: [
            ("ibeacon-gateway status", "scanner, broker, queue, and regions"),
            ("ibeacon-gateway status --json | jq '.trackers[].regions[] | select(.inside).name'", "for scripts"),
            ("sudo ibeacon-gateway status --link", "open the page on a phone in the same network"),
            ("ibeacon-gateway status --explain Kitchen", "the beacon's interval, and when it would leave"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        if let word = arguments.operands.first { throw Failure(.usage, "status takes no '\(word)'") }
        try check(arguments)
        let settings = try Settings.load(arguments, isOptional: true)
        if arguments.has("token") {
            Terminal.print(try token(settings, isQuiet: arguments.has("quiet")))
            return .ok
        }
        let client = try client(arguments, settings)
        if arguments.has("link") {
            // The states of the rooms services, of one site or of several, are named alike.
            let isOfRooms = settings.stateDirectory.hasPrefix(RoomServiceProcess.defaultStateDirectory)
            let answer = try client.order("/link")
            guard let link = PageLink(reading: answer, isOfRooms: isOfRooms, machine: PageLink.machine) else {
                throw Failure(.unavailable, "the running service is older than this command: restart it")
            }
            link.show(isAlone: arguments.has("quiet"))
            return .ok
        }
        if let region = arguments.value("explain") { return try explain(region, client, arguments.has("json")) }
        let status = try client.ask("/status.json")
        if arguments.has("json") {
            Terminal.print(json: status.text)
        } else {
            Terminal.print(StatusText(StatusSnapshot(reading: status), in: TimeText.Zone(arguments)).text)
        }
        return .ok
    }

    /// Refuses options of which one would have no effect.
    static func check(_ arguments: Arguments) throws(Failure) {
        let answers = ["token", "link", "explain"].filter(arguments.has)
        guard answers.count < 2 else {
            throw Failure(.usage, "--\(answers[0]) and --\(answers[1]) exclude each other")
        }
        for option in answers where option != "explain" && arguments.has("address") {
            throw Failure(.usage, "--\(option) is for the service of this machine, without --address")
        }
        if let answer = answers.first, arguments.has(TimeText.Zone.option) {
            throw Failure(.usage, "--\(answer) shows no times, so --\(TimeText.Zone.option) has no meaning")
        }
    }

    private static func client(_ arguments: Arguments, _ settings: Settings) throws(Failure) -> StatusClient {
        guard let text = arguments.value("address") else {
            return StatusClient(stateDirectory: settings.stateDirectory)
        }
        guard let address = ListenAddress(text) else {
            throw Failure(.usage, "'\(text)' is not an address with a port, such as 192.168.1.5:8080")
        }
        // A user who may not read the token may still ask a page on loopback.
        return StatusClient(at: address, token: try? StatusToken.read(in: settings.stateDirectory))
    }

    private static func token(_ settings: Settings, isQuiet: Bool) throws(Failure) -> String {
        if let token = try StatusToken.read(in: settings.stateDirectory) { return token }
        try FileAccess.createDirectory(settings.stateDirectory)
        let token = try StatusToken.make(in: settings.stateDirectory)
        if !isQuiet {
            Terminal.printError("a new token; a running service uses it after a restart")
        }
        return token
    }

    private static func explain(_ region: String, _ client: StatusClient, _ isJSON: Bool) throws -> ExitCode {
        let answer = try client.ask("/explain.json?region=\(StatusClient.encoded(region))")
        if let regions = answer.array, regions.isEmpty {
            let names = try client.status().trackers.flatMap { $0.regions.map(\.name) }
            let hint =
                suggestion(for: region, among: names).map { "; did you mean '\($0)'?" }
                ?? "; 'sudo ibeacon-gateway regions list' shows them"
            throw Failure(.badData, "there is no beacon region '\(region)'\(hint)")
        }
        if isJSON {
            Terminal.print(json: answer.text)
        } else {
            let regions = (answer.array ?? []).compactMap { ExplainedRegion(reading: $0, at: .zero) }
            var blocks = regions.map { ExplanationText.text($0, at: .zero) }
            let count = regions.first?.regionCount ?? 0
            if count > regions.count { blocks.append("\(count - regions.count) more regions have this name") }
            Terminal.print(blocks.joined(separator: "\n\n"))
        }
        return .ok
    }
}
