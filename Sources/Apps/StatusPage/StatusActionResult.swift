package enum StatusActionResult: Hashable, Sendable {
    case done
    /// The reason, for the user.
    case refused(String)
}
