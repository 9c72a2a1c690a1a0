import Gateway
import JSON
package import Storage

/// The topics of the service's trackers. The service stores them for the command line, and for its next start.
package struct ServedTopics {
    package let topics: [String]

    /// Reads what the gateway stores, also of removed trackers; no topics from anything else.
    init(bytes: [UInt8]) { topics = (try? JSONValue(parsing: bytes))?.array?.compactMap(\.string) ?? [] }

    /// The topics that the service stored at its last start or reload; nil if it has never run.
    package static func stored(in reader: borrowing StoreReader) -> [String]? {
        guard let bytes = try? reader.value(of: Gateway.servedTopicsKey) else { return nil }
        return ServedTopics(bytes: bytes).topics
    }
}
