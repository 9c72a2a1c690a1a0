import Gateway
import JSON
package import Storage

/// The topics of the service's trackers. The service stores them for the command line.
package enum ServedTopics {
    /// The topics that the service stored at its last start or reload; nil if it has never run.
    package static func stored(in reader: borrowing StoreReader) -> [String]? {
        guard let bytes = try? reader.value(of: Gateway.servedTopicsKey), let json = try? JSONValue(parsing: bytes)
        else {
            return nil
        }
        return json.array?.compactMap(\.string)
    }
}
