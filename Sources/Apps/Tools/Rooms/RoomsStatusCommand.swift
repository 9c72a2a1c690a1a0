import Base
import Glibc
import JSON
import RoomsApp
import Shell
import System

/// `rooms status`: the tags, rooms and gateways of a site, from the broker's retained messages. It works on every
/// machine that can reach the broker. Where the active service runs, it adds the reasons that the service's page shows.
enum RoomsStatusCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        if let word = arguments.operands.dropFirst().first {
            throw Failure(
                .usage,
                "rooms status takes no '\(word)'; for one tag: ibeacon-gateway rooms find \(ShellWord.quoted(word))")
        }
        let settings = try Settings.load(arguments, stateDirectory: RoomServiceProcess.defaultStateDirectory)
        let topics = try SiteTopics(settings, filters: SiteStatus.filters, optional: SiteStatus.optionalFilters)
        defer { topics.close() }
        try topics.collect()
        let client = StatusClient(stateDirectory: settings.stateDirectory)
        try topics.watchCards(knowing: LocalRoomsService.active(client, site: topics.identity.site))
        var status = SiteStatus(topics)
        if !status.hasActiveService { status.localService = LocalRoomsService.asked(client, site: status.site) }
        addReasons(to: &status, from: client)
        if arguments.has("json") {
            Terminal.print(json: status.json.text)
        } else {
            Terminal.print(status.text(now: Int64(time(nil))))
        }
        return status.hasActiveService ? .ok : .unavailable
    }

    /// Where the service runs on another machine, there are no reasons. The service is asked for one tag at a time.
    private static func addReasons(to status: inout SiteStatus, from client: StatusClient) {
        guard let site = try? client.ask("/status.json"), site["site"]?.string == status.site else { return }
        status.unread = UnreadMessages(site)
        status.addReasons { tag in
            (try? client.ask("/tag.json?id=\(StatusClient.encoded(tag))"))?["reasons"]?.array?.compactMap(\.string)
        }
    }
}
