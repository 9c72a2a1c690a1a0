import RoomsApp
import Shell
import SiteProtocol
import System

/// `rooms rename`: gives what was learned of a room to another name. It answers the question that the service asks when some gateways of a
/// trained room name another one.
enum RoomsRenameCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 3 else {
            throw Failure(.usage, "name the room and its new name: rooms rename Hall Lounge")
        }
        let new = try RoomsLearnCommand.roomName(arguments.operands[2])
        let topics = try LearnDialogue.topics(arguments)
        defer { topics.close() }
        try topics.collect()
        try topics.watchCards()
        let status = SiteStatus(topics)
        try status.needActiveService()
        let room = try status.renamedRoom(arguments.operands[1], to: new)
        let site = topics.identity.site
        // What the broker shows is evidence only if it showed something else before.
        let wasOpen = status.isRenameOpen(of: room, to: new)
        try LearnDialogue.ask(.rename(room: room, to: new), topics) { retained in
            wasOpen && !SiteStatus(retained, closed: [:], site: site).isRenameOpen(of: room, to: new)
        }
        if !arguments.has("quiet") { Terminal.print(Terminal.printable("\(room.name) is \(new.name) now.")) }
        return .ok
    }
}
