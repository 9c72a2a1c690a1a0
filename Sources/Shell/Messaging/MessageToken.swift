/// The owner's number for a message that it publishes. The number of an unanswered message must not be used again.
package struct MessageToken: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Of a service: whether it is the number of a row of the outbox. Messages without a row have negative tokens.
    package var isStored: Bool { rawValue > 0 }
}
