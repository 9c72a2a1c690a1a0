/// What the owner's reader made of a message on the broker's thread. Decoding ten thousand regions takes longer than the
/// radio can wait.
package struct DecodedMessage: Hashable, Sendable {
    package let content: any Hashable & Sendable
    /// Bytes of the message as it came.
    package let byteCount: Int

    package init(_ content: any Hashable & Sendable, byteCount: Int) {
        (self.content, self.byteCount) = (content, byteCount)
    }

    package static func == (left: DecodedMessage, right: DecodedMessage) -> Bool {
        AnyHashable(left.content) == AnyHashable(right.content) && left.byteCount == right.byteCount
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(content)) }
}
