import Base
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
        let room = arguments.operands[1]
        let duration = try arguments.seconds("seconds") ?? usual
        guard duration <= .seconds(3600) else { throw Failure(.usage, "--seconds is at most 3600") }
        let topics = try SiteTopics(try Settings.load(arguments), filters: ["service/+", "tags"])
        defer { topics.close() }
        try topics.collect()
        try SiteStatus(topics).needActiveService()
        let list = topics.retained[RoomTopic.tags(site: topics.identity.site).text].flatMap {
            try? FeedDecoder.tags($0)
        }
        guard list?.mayHave(tagNamed: tag) != false else {
            throw Failure(.usage, "there is no tag '\(tag)'; 'ibeacon-gateway rooms status' shows the tags")
        }
        let request = FeedDecoder.LearnRequest.train(room: room, tag: tag, duration)
        try topics.publish(.learn(site: topics.identity.site), request.payload)
        guard duration > .zero else { return .ok }
        let isShown = Terminal.isInteractive && !arguments.has("quiet")
        if isShown { Terminal.print("Carry '\(tag)' through all of \(room), corners too, until this ends.") }
        var left = duration
        while left > .zero {
            let step = min(left, .seconds(1))
            try topics.wait(step)
            left -= step
            if isShown {
                Terminal.showProgress("\(bar(done: 1 - left / duration)) \(decimal(left)) s ", onError: false)
            }
        }
        if isShown { Terminal.print("\n\(room) is learned.") }
        return .ok
    }

    private static func bar(done: Double) -> String {
        let filled = Int(clamping: Int64(saturating: done * 30))
        return "[" + String(repeating: "#", count: filled) + String(repeating: " ", count: 30 - filled) + "]"
    }
}
