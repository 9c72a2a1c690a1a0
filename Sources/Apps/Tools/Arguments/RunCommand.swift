import Base
import Configuration
import GatewayApp
import Glibc
import Runtime
import Shell
import System

/// `run`: the service, in the foreground.
enum RunCommand {
    static let specification = CommandSpecification(
        "run", "run the service in the foreground, as systemd does",
        examples: [
            ("ibeacon-gateway run", "with /etc/ibeacon-gateway/config.json"),
            ("ibeacon-gateway --config my.json --state-dir /tmp/state run", "with your own configuration"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        if let word = arguments.operands.first { throw Failure(.usage, "run takes no '\(word)'") }
        let settings = try Settings.load(arguments)
        let log = Log(threshold: arguments.logThreshold)
        for warning in settings.configuration.warnings { log.warning("\(warning)") }
        try FileAccess.createDirectory(settings.stateDirectory)
        return try ServiceProcess.run(settings, offer: CardOffer.answer, log: log)
    }
}

extension Arguments {
    /// The lowest priority that a service logs, according to `--verbose` and `--quiet`.
    var logThreshold: LogPriority { has("verbose") ? .debug : has("quiet") ? .warning : .info }
}
