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
        try SiteTopics(try Settings.load(arguments), filters: SiteStatus.filters + ["refused"]) { identity in
            [RoomTopic.refused(site: identity.site).text]
        }
    }

    /// Publishes a request, and waits until it is carried out.
    ///
    /// - Parameter isDone: Whether the retained messages show that it is.
    /// - Returns: false if the service says nothing.
    /// - Throws: `badData` with the service's reason, if it refuses.
    static func ask(
        _ request: FeedDecoder.LearnRequest, _ topics: SiteTopics, until isDone: ([String: [UInt8]]) -> Bool
    ) throws -> Bool {
        let site = topics.identity.site
        try topics.publish(.learn(site: site), request.payload)
        try topics.wait(patience) { isDone($0) || refusal(of: request, in: $0, site: site) != nil }
        try need(request, topics)
        return isDone(topics.retained)
    }

    /// Throws if the service has refused the request.
    static func need(_ request: FeedDecoder.LearnRequest, _ topics: SiteTopics) throws(Failure) {
        guard let reason = refusal(of: request, in: topics.retained, site: topics.identity.site) else { return }
        throw Failure(.badData, Terminal.printable("the service refuses: \(reason)"))
    }

    /// Why the service refuses a request; nil if it does not. Another person may have asked for something else.
    static func refusal(
        of request: FeedDecoder.LearnRequest, in messages: [String: [UInt8]], site: String
    ) -> String? {
        guard let payload = messages[RoomTopic.refused(site: site).text], let refusal = try? LearnRefusal(payload),
            let sent = try? FeedDecoder.learn(request.payload), refusal.request == sent
        else { return nil }
        return refusal.reason
    }
}
