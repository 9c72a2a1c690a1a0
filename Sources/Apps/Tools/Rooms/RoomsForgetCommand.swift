import RoomsApp
import Shell
import SiteProtocol
import System

/// `rooms forget`: deletes the learned data of a room.
enum RoomsForgetCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 2 else { throw Failure(.usage, "name the room: rooms forget Kitchen") }
        let topics = try SiteTopics(try Settings.load(arguments), filters: SiteStatus.filters)
        defer { topics.close() }
        try topics.collect()
        let status = SiteStatus(topics)
        try status.needActiveService()
        let room = try status.room(arguments.operands[1])
        try topics.publish(
            .learn(site: topics.identity.site), FeedDecoder.LearnRequest.forget(room: room).payload)
        return .ok
    }
}
