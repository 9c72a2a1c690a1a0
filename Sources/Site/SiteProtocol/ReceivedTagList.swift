/// A list of tags, which is decoded only when its content is needed, because it can have megabytes.
package struct ReceivedTagList: Hashable, Sendable {
    private let payload: [UInt8]

    package init(_ payload: some Sequence<UInt8>) { self.payload = Array(payload) }

    /// - Throws: The first error in the list.
    package func list() throws(FeedError) -> TagList { try FeedDecoder.tags(payload) }

    /// Whether the payload is exactly what a service publishes for this list.
    package func isPayload(of list: TagList) -> Bool { payload == list.payload }
}
