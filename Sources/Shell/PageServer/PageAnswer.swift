package import JSON

package enum PageAnswer: Hashable, Sendable {
    case json(JSONValue)
    /// The request was executed. The answer has no content.
    case done
    /// The reason, for the user. `status` is an HTTP status of 400 or more.
    case refused(status: UInt32, String)
}
