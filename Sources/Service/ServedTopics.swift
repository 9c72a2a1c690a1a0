import Gateway
import JSON
import OwnTracks
import Regions
import Runtime
package import Storage
import System

/// The topics that the service has regions for, as it tells them to the command line.
package enum ServedTopics {
    /// The topics that a service stored when it was started or reloaded last; nil if none ever was.
    package static func stored(in reader: borrowing StoreReader) -> [String]? {
        guard let bytes = try? reader.value(of: Gateway.servedTopicsKey), let json = try? JSONValue(parsing: bytes)
        else {
            return nil
        }
        return json.array?.compactMap(\.string)
    }
}
