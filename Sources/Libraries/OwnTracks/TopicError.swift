/// Why a text cannot be a topic to publish to.
public struct TopicError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, in words for the author.
    public let description: String
}
