package import Base
import JSON

extension Publication {
    /// The payload for HTTP, with its topic, because HTTP has no other place for it. The apps also add it before they
    /// encrypt.
    package var posted: [UInt8] {
        guard var members = (try? JSONValue(parsing: payload))?.object else { return payload }
        members["topic"] = .string(topic)
        return JSONValue.object(members).bytes
    }
}
