internal import Gateway
internal import OwnTracks
internal import Regions
internal import Runtime
internal import Storage

extension Daemon {
    /// The topics that a service stored when it was started or reloaded last; nil if none ever was.
    static func servedTopics(in reader: borrowing StoreReader) -> [String]? {
        guard let bytes = try? reader.value(of: Gateway.servedTopicsKey), let json = try? JSONValue(parsing: bytes)
        else {
            return nil
        }
        return json.array?.compactMap(\.string)
    }
}
