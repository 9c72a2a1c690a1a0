import SiteProtocol

/// What the active service has answered to one request on `learn`.
struct LearnReply {
    /// The request as a service reads it.
    private let request: FeedDecoder.LearnRequest?
    /// Why the service refuses; nil if it does not.
    private(set) var refusal: String?
    /// Whether the service has begun a training run.
    private(set) var hasBegun = false
    /// What the service says at last.
    private(set) var answer: LearnAnswer?

    /// Whether nothing more is to come.
    var isOver: Bool { refusal != nil || answer != nil }

    init(to request: FeedDecoder.LearnRequest) { self.request = try? FeedDecoder.learn(request.payload) }

    /// Takes a message that arrived live. Another person may have asked for something else, and any client may publish there.
    mutating func take(_ topic: RoomTopic, _ payload: [UInt8]) {
        switch topic {
        case .refused:
            guard let refusal = try? LearnRefusal(payload), refusal.request == request else { return }
            self.refusal = refusal.reason
        case .answer:
            guard let answer = try? LearnAnswer(payload), answer.request == request else { return }
            // An answer before it was that to the same request of another person, whose run this one ends.
            if answer.outcome == .begun { (hasBegun, self.answer) = (true, nil) } else { self.answer = answer }
        default: break
        }
    }
}
