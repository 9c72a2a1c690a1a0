import JSON

/// What the active service answers to a request on `learn` that it does not carry out, on `ibeacon-rooms/<site>/refused`.
package struct LearnRefusal: Hashable, Sendable {
    package var request: FeedDecoder.LearnRequest
    /// Why, for users.
    package var reason: String

    package init(_ request: FeedDecoder.LearnRequest, _ reason: String) {
        (self.request, self.reason) = (request, reason)
    }

    /// The members of the request, and `refused` with the reason: `{"refused":"there is no such room","rename":"Lounge","room":"Hall"}`.
    package var payload: [UInt8] {
        var members = request.json.object ?? [:]
        members["refused"] = .string(reason)
        return JSONValue.object(members).bytes
    }

    /// - Throws: Any client may publish there: the first error in the payload.
    package init(_ payload: some Collection<UInt8>) throws(FeedError) {
        let json = try FeedDecoder.read(payload, bytes: 8192, values: 64)
        guard let reason = json["refused"]?.string, !reason.isEmpty else { throw FeedError("'refused' is no text") }
        (request, self.reason) = (try FeedDecoder.learn(json), reason)
    }
}
