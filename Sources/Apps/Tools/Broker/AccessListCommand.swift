import Base
import Configuration
import GatewayApp
import JSON
import RoomsApp
import Shell
import System

/// `acl`: the rights at the broker that a configuration needs.
enum AccessListCommand {
    static let specification = CommandSpecification(
        "acl", "print the rights at the broker that this configuration needs",
        options: [
            OptionSpecification(
                "service", "NAME", "the rights of 'gateway' (default) or of 'rooms', the rooms service"),
            OptionSpecification(
                "gateways", "NAME,NAME…",
                "the rights of several gateways with this configuration, whose user name and deviceId are their names"),
        ],
        examples: [
            ("sudo ibeacon-gateway acl", "the lines for mosquitto's acl_file"),
            ("ibeacon-gateway acl --config template.json --gateways kitchen,hall", "those for a fleet"),
            ("sudo ibeacon-gateway acl --service rooms", "those of the service that decides which room a tag is in"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.isEmpty else {
            throw Failure(.usage, "acl takes no '\(arguments.operands[0])'; see 'ibeacon-gateway acl --help'")
        }
        let settings = try Settings.load(arguments)
        let list = try list(
            settings, service: arguments.value("service") ?? "gateway", gateways: arguments.value("gateways"))
        if arguments.has("json") { Terminal.print(json: list.json.text) } else { Terminal.print(list.text) }
        return .ok
    }

    static func list(_ settings: Settings, service: String, gateways: String?) throws(Failure) -> AccessList {
        guard settings.configuration.broker.endpoint == nil else {
            throw Failure(
                .configuration,
                "mode is 3, which posts to an HTTP server; without a broker there are no rights to grant")
        }
        guard !settings.configuration.broker.isOffline else {
            throw Failure(.configuration, "port is 0, which is no broker; there are no rights to grant")
        }
        switch (service, gateways) {
        case ("gateway", nil): return AccessList(members: [try member(settings.configuration, GatewayTopics.used)])
        case ("gateway", let names?): return AccessList(members: try fleet(names, settings))
        case ("rooms", nil):
            // Says what is missing in the configuration; the topics of a service without a site would be none.
            _ = try RoomServiceIdentity(settings.configuration)
            return AccessList(members: [try member(settings.configuration, RoomTopics.used)])
        case ("rooms", _): throw Failure(.usage, "--gateways belongs to the service 'gateway', and not to 'rooms'")
        default:
            throw Failure(.usage, "there is no service '\(service)'\(hint(for: service, among: ["gateway", "rooms"]))")
        }
    }

    private static func member(
        _ configuration: Configuration, _ used: (Configuration, Int64) -> [UsedTopic]
    ) throws(Failure) -> AccessList.Member {
        let user = configuration.broker.username
        // A line break would make further lines of the list.
        if let user, user.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw Failure(.configuration, "username holds a control character, which an access list cannot have")
        }
        return AccessList.Member(user: user, topics: used(configuration, 0))
    }

    /// One member for each name, with the settings of the file besides.
    private static func fleet(_ text: String, _ settings: Settings) throws(Failure) -> [AccessList.Member] {
        var members: [AccessList.Member] = []
        var seen: Set<[UInt8]> = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false).map({ String($0.trimmed) }) {
            guard !name.isEmpty, !name.unicodeScalars.contains(where: { "+#/".unicodeScalars.contains($0) }) else {
                throw Failure(
                    .usage, "'\(name)' in --gateways is no name: it must not be empty or hold '+', '#' or '/'")
            }
            guard seen.insert(Array(name.utf8)).inserted else {
                throw Failure(.usage, "--gateways names '\(name)' twice")
            }
            var file = settings.json.object ?? [:]
            (file["username"], file["deviceId"]) = (.string(name), .string(name))
            let configuration: Configuration
            do throws(ConfigurationError) {
                configuration = try Configuration(
                    .object(file), hostName: Settings.hostName, files: SecretFile.files(beside: settings.path))
            } catch {
                let lines = error.problems.map { "  \($0)" }.joined(separator: "\n")
                throw Failure(.configuration, "a gateway '\(name)' cannot have this configuration:\n\(lines)")
            }
            members.append(try member(configuration, GatewayTopics.used))
        }
        guard !members.isEmpty else { throw Failure(.usage, "name the gateways: --gateways kitchen,hall") }
        return members
    }
}
