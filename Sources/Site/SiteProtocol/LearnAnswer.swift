import JSON

/// What the active service answers to a request on `learn` that it does not refuse, on `ibeacon-rooms/<site>/answer`.
package struct LearnAnswer: Hashable, Sendable {
    package enum Outcome: String, Sendable {
        /// A training run has begun. Another answer follows at its end.
        case begun
        /// What was asked for is done.
        case done
        /// There was nothing to do: nothing was learned of the room, no such run goes on, or nothing was heard during the run.
        case nothing
    }

    package var request: FeedDecoder.LearnRequest
    package var outcome: Outcome
    /// At the end of a training run: the seconds of readings of the tag that were learned, in tenths; nil for all other answers.
    package var learned: Double?

    package init(_ request: FeedDecoder.LearnRequest, _ outcome: Outcome, learned: Double? = nil) {
        (self.request, self.outcome, self.learned) = (request, outcome, learned)
    }

    /// The members of the request, and `answer`: `{"answer":"done","learned":118.5,"room":"Kitchen","seconds":120,"tag":"jane"}`.
    package var payload: [UInt8] {
        var members = request.json.object ?? [:]
        members["answer"] = .string(outcome.rawValue)
        members["learned"] = learned.map { .number($0) }
        return JSONValue.object(members).bytes
    }

    /// - Throws: Any client may publish there: the first error in the payload.
    package init(_ payload: some Collection<UInt8>) throws(FeedError) {
        let json = try FeedDecoder.read(payload, bytes: 8192, values: 64)
        guard let outcome = json["answer"]?.string.flatMap(Outcome.init) else {
            throw FeedError("'answer' is not begun, done or nothing")
        }
        let learned = json["learned"]?.asNumber
        guard json["learned"] == nil || learned.map({ (0...86_400).contains($0) }) == true else {
            throw FeedError("'learned' is not a number from 0 to 86400")
        }
        self.init(try FeedDecoder.learn(json), outcome, learned: learned)
    }
}
