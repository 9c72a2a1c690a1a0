package import JSON

/// `_type: lwt`: the message that the broker publishes when the connection is lost. Topic: the base, never retained (it
/// would overwrite the retained location) and never encrypted (the broker sends it unchanged).
package struct LastWill: Hashable, Sendable {
    /// When the connection began, epoch seconds.
    package var timestamp: Int64

    package init(timestamp: Int64) { self.timestamp = timestamp }

    package var payload: JSONValue { ["_type": "lwt", "tst": .integer(timestamp)] }

    /// The bytes of the payload, and the place of the time in them: each connection begins at another one.
    package var timed: (bytes: [UInt8], timePlace: Range<Int>) {
        // The time is the last member.
        let (bytes, digits) = (payload.bytes, String(timestamp).utf8.count)
        return (bytes, (bytes.count - 1 - digits)..<(bytes.count - 1))
    }
}
