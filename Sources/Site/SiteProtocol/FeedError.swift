/// Why a message of the feed was rejected.
package struct FeedError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
