import RoomsApp
import Shell
import SiteProtocol
import System

/// `rooms forget`: deletes the learned data of a room.
enum RoomsForgetCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 2 else { throw Failure(.usage, "name the room: rooms forget Kitchen") }
        let topics = try LearnDialogue.topics(arguments)
        defer { topics.close() }
        try topics.collect()
        try topics.watchCards()
        let status = SiteStatus(topics)
        try status.needActiveService()
        let room = try status.room(arguments.operands[1])
        let answer = try LearnDialogue.ask(.forget(room: room), topics)
        guard answer?.outcome != .nothing else {
            throw Failure(
                .badData, Terminal.printable("nothing was learned of \(room.name), so there is nothing to forget"))
        }
        if !arguments.has("quiet") {
            Terminal.print(Terminal.printable("What was learned of \(room.name) is deleted."))
        }
        return .ok
    }
}
