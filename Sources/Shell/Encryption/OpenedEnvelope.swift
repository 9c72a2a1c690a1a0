/// What was in an envelope.
package struct OpenedEnvelope: Hashable, Sendable {
    package let plaintext: [UInt8]
    /// 24 bytes that no other message of the same key has. Who has no key cannot change them.
    package let nonce: [UInt8]
}
