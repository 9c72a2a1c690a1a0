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
        try topics.watchCards()
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
        let text: String
        if duration > .zero {
            text = try train(request, room, tag, duration, topics, isQuiet: arguments.has("quiet"))
        } else {
            text = try result(of: try LearnDialogue.ask(request, topics), room, tag, duration)
        }
        if !arguments.has("quiet") { Terminal.print(Terminal.printable(text)) }
        return .ok
    }

    private static func train(
        _ request: FeedDecoder.LearnRequest, _ room: RoomName, _ tag: String, _ duration: Duration,
        _ topics: SiteTopics, isQuiet: Bool
    ) throws -> String {
        let isShown = Terminal.isInteractive && !isQuiet
        if isShown { Terminal.print("Carry '\(tag)' through all of \(room.name), corners too, until this ends.") }
        // What is printed next begins a line.
        defer { if isShown { Terminal.print("") } }
        let answer = try LearnDialogue.train(request, for: duration, topics) { left in
            guard isShown else { return }
            let rest: String = seconds(.seconds(left.inSeconds.rounded(.up)))
            Terminal.showProgress("\(bar(done: 1 - left / duration)) \(rest) s ", onError: false)
        }
        return try result(of: answer, room, tag, duration)
    }

    /// What was done, in words.
    ///
    /// - Parameter duration: That of the run; zero: the run was to end.
    /// - Throws: `badData` if nothing was done.
    static func result(
        of answer: LearnAnswer?, _ room: RoomName, _ tag: String, _ duration: Duration
    ) throws(Failure) -> String {
        let learned: String = seconds(.seconds(answer?.learned ?? 0))
        switch (answer?.outcome, duration > .zero) {
        case (.nothing, true):
            throw Failure(
                .badData,
                Terminal.printable(
                    "nothing was learned of \(room.name): no gateway that counts heard '\(tag)' meanwhile; "
                        + "see: ibeacon-gateway rooms status"))
        case (.nothing, false):
            throw Failure(.badData, Terminal.printable("no training of \(room.name) with '\(tag)' goes on"))
        case (_, true): return "\(room.name) is learned: \(learned) s of readings of '\(tag)'."
        case (_, false):
            return "The training of \(room.name) has ended: \(learned) s of readings of '\(tag)' were learned."
        }
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
