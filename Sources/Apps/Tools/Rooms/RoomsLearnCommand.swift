import Base
import Glibc
import OwnTracks
import RoomsApp
import Shell
import SiteProtocol
import System

/// `rooms learn`: trains one room with one tag, and shows the remaining time.
enum RoomsLearnCommand {
    private static let usual: Duration = .seconds(120)

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard arguments.operands.count == 2, let tag = arguments.value("tag") else {
            throw Failure(.usage, "name the room and the tag: rooms learn Kitchen --tag Jane")
        }
        let name = try roomName(arguments.operands[1])
        let duration = try arguments.seconds("seconds") ?? usual
        guard duration <= .seconds(3600) else { throw Failure(.usage, "--seconds is at most 3600") }
        let topics = try LearnDialogue.topics(arguments)
        defer { topics.close() }
        try topics.collect()
        let status = SiteStatus(topics)
        try status.needActiveService()
        let list = topics.retained[RoomTopic.tags(site: topics.identity.site).text].flatMap {
            try? FeedDecoder.tags($0)
        }
        guard list?.mayHave(tagNamed: tag) != false else {
            throw Failure(.usage, "there is no tag '\(tag)'; 'ibeacon-gateway rooms status' shows the tags")
        }
        let room = try status.knownRoom(name) ?? newRoom(name, status, arguments)
        let request = FeedDecoder.LearnRequest.train(room: room, tag: tag, duration)
        try topics.publish(.learn(site: topics.identity.site), request.payload)
        guard duration > .zero else { return .ok }
        let isShown = Terminal.isInteractive && !arguments.has("quiet")
        if isShown { Terminal.print("Carry '\(tag)' through all of \(room.name), corners too, until this ends.") }
        var left = duration
        while left > .zero {
            let step = min(left, .seconds(1))
            try topics.wait(step) { LearnDialogue.refusal(of: request, in: $0, site: topics.identity.site) != nil }
            try LearnDialogue.need(request, topics)
            left -= step
            if isShown {
                Terminal.showProgress("\(bar(done: 1 - left / duration)) \(decimal(left)) s ", onError: false)
            }
        }
        if isShown { Terminal.print("\n\(room.name) is learned.") }
        return .ok
    }

    /// The name of a room, as a person writes it.
    static func roomName(_ text: String) throws(Failure) -> RoomName {
        guard let name = RoomName(text) else {
            throw Failure(
                .usage,
                "'\(text)' is not the name of a room: 1 to \(FeedDecoder.mostNameBytes) bytes without control characters, not blank"
            )
        }
        return name
    }

    /// A room that does not exist yet, if the person means that: a misspelt name would become a room of its own.
    static func newRoom(
        _ name: RoomName, _ status: SiteStatus, _ arguments: Arguments,
        _ dialogue: Dialogue = Dialogue(isInteractive: isatty(STDIN_FILENO) == 1 && Terminal.isInteractive)
    ) throws(Failure) -> RoomName {
        guard !arguments.has("new") else { return name }
        var text = status.textOfNoRoom(name.name)
        // It may end with the question whether another one was meant.
        if !text.hasSuffix("?") { text += "." }
        guard dialogue.isInteractive else { throw Failure(.badData, "\(text) The option --new makes it") }
        guard try dialogue.confirm("\(Terminal.printable(text)) Make a new room?", false) else {
            throw Failure(.usage, "nothing was learned")
        }
        return name
    }

    private static func bar(done: Double) -> String {
        let filled = Int(clamping: Int64(saturating: done * 30))
        return "[" + String(repeating: "#", count: filled) + String(repeating: " ", count: 30 - filled) + "]"
    }
}
