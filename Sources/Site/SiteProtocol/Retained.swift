/// A retained message on a topic that only the active service writes.
package enum Retained<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The broker retains nothing on the topic.
    case absent
    case value(Value)
    /// The message is malformed, or cannot be decrypted.
    case unreadable

    init(_ payload: some Collection<UInt8>, _ read: () -> Value?) {
        self = payload.isEmpty ? .absent : read().map(Retained.value) ?? .unreadable
    }
}
