import Configuration
import RoomsApp
import Runtime
import Shell
import System

/// `rooms run`: the rooms service, in the foreground.
enum RoomsRunCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        if arguments.operands.count > 1 { throw Failure(.usage, "rooms run takes no '\(arguments.operands[1])'") }
        let settings = try Settings.load(
            arguments, stateDirectory: RoomServiceProcess.defaultStateDirectory)
        let log = Log(threshold: arguments.logThreshold)
        for warning in settings.configuration.warnings { log.warning("\(warning)") }
        try FileAccess.createDirectory(settings.stateDirectory)
        return try RoomServiceProcess.run(settings, offer: CardOffer.answer, log: log)
    }
}
