import Base
package import Gateway
import JSON
import Storage

extension Message {
    /// Whether the message is in OwnTracks' tree. Other messages, such as the retained states, are only for
    /// subscribers.
    package var isOwnTracks: Bool { topic.isTopic(atOrBelow: base) }

    /// The payload for HTTP, with its topic, because HTTP has no other place for it. The apps also add it before they
    /// encrypt.
    package var posted: [UInt8] {
        guard var members = (try? JSONValue(parsing: payload))?.object else { return payload }
        members["topic"] = .string(topic)
        return JSONValue.object(members).bytes
    }
}

extension Storage.OutgoingMessage {
    /// As for `Message`.
    var isOwnTracks: Bool { topic.isTopic(atOrBelow: tracker) }
}
