import Base
import Configuration
import JSON
import PageServer
import Regions
import RoomsApp
import Shell
import System

/// `config check`, `config show`, `config default`.
enum ConfigCommand {
    static let specification = CommandSpecification(
        "config", operands: "check | show | default", "check or show the configuration, or print a commented default",
        examples: [
            ("ibeacon-gateway config check", "list all mistakes in /etc/ibeacon-gateway/config.json"),
            ("ibeacon-gateway --config new.json config show", "show the settings in force, with secrets masked"),
            ("ibeacon-gateway config default > config.json", "create a file to start from"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        let actions = ["check", "show", "default"]
        guard let action = arguments.operands.first else {
            throw Failure(.usage, "name the action: config check, config show or config default")
        }
        if actions.contains(action), let file = arguments.operands.dropFirst().first {
            let advice = action == "default" ? "" : "; for another file write --config \(file)"
            throw Failure(.usage, "config \(action) takes no '\(file)'\(advice)")
        }
        switch action {
        case "default":
            Terminal.print(Configuration.commentedDefault)
        case "show":
            // With the settings that a running service has kept from `setConfiguration`, if the state can be read.
            var settings = try Settings.load(arguments)
            do throws(Failure) { settings = try Settings.loadInForce(arguments) } catch {
                Terminal.printError(
                    "\(error.message); this is what the file says, without what a setConfiguration changed")
            }
            Terminal.print(json: settings.configuration.shown.text)
            if let text = settings.remoteMembersText, !arguments.has("quiet") { Terminal.printError(text) }
        case "check":
            let settings = try Settings.load(arguments)
            for warning in settings.configuration.warnings { Terminal.printError("warning: \(warning)") }
            warnOfTokens(settings)
            try warnOfTags(settings.configuration)
            let problems = ServiceFiles.problems(settings, for: ServiceFiles.user(of: settings))
            guard problems.isEmpty else {
                let lines = problems.map { "  \($0.text); \($0.remedy)" }.joined(separator: "\n")
                let source = settings.path ?? "the default configuration"
                throw Failure(.configuration, "\(source) cannot be used:\n\(lines)")
            }
            guard !arguments.has("quiet") else { return .ok }
            Terminal.print(settings.path.map { "\($0) is valid" } ?? "there is no file; the defaults are in force")
        default:
            throw Failure(.usage, "config has no '\(action)'\(hint(for: action, among: actions))")
        }
        return .ok
    }

    private static func warnOfTags(_ configuration: Configuration) throws(Failure) {
        guard let tags = configuration.rooms?.tags, !tags.isEmpty else { return }
        let remarks = try TagRemarks(configuration)
        for case .set(let tag, _) in tags {
            for remark in remarks.remarks(on: tag) {
                Terminal.printError("warning: rooms.tags: '\(tag.displayName)': \(remark)")
            }
        }
    }

    /// A service does not start if other machines can reach its page and there is no token.
    private static func warnOfTokens(_ settings: Settings) {
        let pages = [
            ("http", settings.configuration.statusPage, settings.stateDirectory),
            ("rooms.http", settings.configuration.rooms?.statusPage, RoomServiceProcess.defaultStateDirectory),
        ]
        for case (let member, let address?, let directory) in pages
        where FileAccess.exists(directory)
            && StatusServerSettings.lacksToken(pageAt: address, stateDirectory: directory)
        {
            Terminal.printError(
                "warning: \(member): the page listens on \(address), beyond this machine, without a token, so the service "
                    + "does not start; make one with 'ibeacon-gateway status --token --state-dir \(directory)'")
        }
    }
}
