import Base
package import Gateway
import JSON
import Storage

extension Message {
    /// Whether it is in OwnTracks' tree. What is not, as the retained states, is only for those who subscribe to it.
    package var isOwnTracks: Bool { topic.isTopic(atOrBelow: base) }

    /// As it is posted over HTTP, where nothing else says what its topic is. The apps do the same, before they encrypt.
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
