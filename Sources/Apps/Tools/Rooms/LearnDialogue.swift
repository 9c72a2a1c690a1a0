import Base
import RoomsApp
import Shell
import SiteProtocol
import System

/// What a person says about rooms on `learn`, and the answer of the active service.
enum LearnDialogue {
    /// Longest time that the service may take.
    private static let patience: Duration = .seconds(10)

    /// The topics of the site with the answers of its service. An access list of an earlier version may not let them be read.
    static func topics(_ arguments: Arguments) throws -> SiteTopics {
        try SiteTopics(try Settings.load(arguments), filters: SiteStatus.filters + ["refused", "answer"]) { identity in
            [RoomTopic.refused(site: identity.site).text, RoomTopic.answer(site: identity.site).text]
        }
    }

    /// Publishes a request, and waits until it is answered.
    ///
    /// - Parameter isDone: Whether the retained messages show that it is carried out, which a service of an earlier version does not
    ///   answer. Before the request they must show that it is not.
    /// - Returns: What the service answered; nil if only the retained messages show it.
    /// - Throws: `badData` with the service's reason if it refuses, `unavailable` if nobody answers.
    @discardableResult
    static func ask(
        _ request: FeedDecoder.LearnRequest, _ topics: SiteTopics,
        orUntil isDone: ([String: [UInt8]]) -> Bool = { _ in false }
    ) throws -> LearnAnswer? {
        let reply = try exchange(request, topics) { reply in
            try topics.wait(patience) { reply().isOver || isDone($0) }
        }
        guard reply.answer != nil || isDone(topics.retained) else { throw unconfirmed }
        return reply.answer
    }

    /// Begins a training run, and waits for its end.
    ///
    /// - Parameter show: Called with the time that is left, about once a second.
    /// - Returns: What the service says at the end.
    /// - Throws: As `ask`.
    static func train(
        _ request: FeedDecoder.LearnRequest, for duration: Duration, _ topics: SiteTopics, show: (Duration) -> Void
    ) throws -> LearnAnswer {
        let end = Clocks.now().advanced(by: duration)
        let reply = try exchange(request, topics) { reply in
            while !reply().isOver, Clocks.now() < end {
                show(Clocks.now().duration(to: end))
                try topics.wait(min(.seconds(1), Clocks.now().duration(to: end))) { _ in reply().isOver }
            }
            if !reply().isOver { show(.zero) }
            try topics.wait(patience) { _ in reply().isOver }
        }
        if let answer = reply.answer { return answer }
        guard reply.hasBegun else { throw unconfirmed }
        throw Failure(
            .unavailable,
            "the service began the training, and did not say at its end what it learned; see: ibeacon-gateway rooms status"
        )
    }

    /// Publishes a request, and collects what is answered to it.
    ///
    /// - Parameter wait: Waits for as long as an answer may come. It is given what was answered so far.
    /// - Throws: `badData` with the service's reason if it refuses.
    private static func exchange(
        _ request: FeedDecoder.LearnRequest, _ topics: SiteTopics, wait: (() -> LearnReply) throws -> Void
    ) throws -> LearnReply {
        var reply = LearnReply(to: request)
        topics.onAnswer = { reply.take($0, $1) }
        defer { topics.onAnswer = nil }
        try topics.publish(.learn(site: topics.identity.site), request.payload)
        try wait { reply }
        if let reason = reply.refusal {
            throw Failure(.badData, Terminal.printable("the service refuses: \(reason)"))
        }
        return reply
    }

    private static var unconfirmed: Failure {
        Failure(
            .unavailable,
            "the request was sent, and no service has confirmed for \(seconds(patience)) s that it is carried out. A service of an "
                + "earlier version does not say so, nor does the broker without the right to read 'answer' of the site; see: "
                + "ibeacon-gateway rooms status")
    }
}
