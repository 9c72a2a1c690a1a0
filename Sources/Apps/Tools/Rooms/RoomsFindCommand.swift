import Glibc
import JSON
import RoomsApp
import Shell
import System

/// `rooms find`: where one tag is, or where it was last, from the broker's retained messages.
enum RoomsFindCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 2 else { throw Failure(.usage, "name the tag: rooms find Jane") }
        let settings = try Settings.load(arguments, stateDirectory: RoomServiceProcess.defaultStateDirectory)
        let topics = try SiteTopics(settings, filters: SiteStatus.filters)
        defer { topics.close() }
        try topics.collect()
        // A name that is no tag needs no wait.
        let names = SiteStatus(topics)
        if names.closure == nil { _ = try names.tag(arguments.operands[1]) }
        let client = StatusClient(stateDirectory: settings.stateDirectory)
        try topics.watchCards(knowing: LocalRoomsService.active(client, site: topics.identity.site))
        let status = SiteStatus(topics)
        // Without a service the state may be old, and says so. If no key fits, there is none.
        if status.closure != nil { try status.needActiveService() }
        let tag = try status.tag(arguments.operands[1])
        if arguments.has("json") {
            Terminal.print(json: tag.json.text)
        } else {
            Terminal.print(tag.sentences(now: Int64(time(nil))))
            if !status.hasActiveService {
                Terminal.print("No rooms service is active for site '\(status.site)': this may be old.")
                for remark in status.services.remarks { Terminal.print(Terminal.printable("\(remark).")) }
            }
        }
        return status.hasActiveService ? .ok : .unavailable
    }
}
