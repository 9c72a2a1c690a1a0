import Glibc
import JSON
import RoomService
import Service
import System

/// `rooms status`: the tags, rooms and gateways of a site, from the broker's retained messages. It works on every
/// machine that can reach the broker.
enum RoomsStatusCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        let topics = try SiteTopics(try Settings.load(arguments), filters: SiteStatus.filters)
        defer { topics.close() }
        try topics.collect()
        let status = SiteStatus(topics.retained, site: topics.identity.site)
        if arguments.has("json") {
            Terminal.print(status.json.text)
        } else {
            Terminal.print(status.text(now: Int64(time(nil))))
        }
        return status.hasActiveService ? .ok : .unavailable
    }
}
