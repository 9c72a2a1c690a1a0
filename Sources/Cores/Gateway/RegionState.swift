import Beacon
import JSON

/// The retained state of a region, outside OwnTracks' tree: consumers can read at any time whether it is occupied.
struct RegionState {
    let isInside: Bool
    /// Seconds since 1970. For a region that was never left: when it is published.
    let since: Int64
    let description: String
    /// The RSSI of the sighting that decided the state; nil if the controller gave none.
    let rssi: RSSI?

    var payload: JSONValue {
        var members: [String: JSONValue] = [
            "state": isInside ? "inside" : "outside", "since": .integer(since), "desc": .string(description),
        ]
        if let rssi { members["rssi"] = .integer(Int64(rssi.dBm)) }
        return .object(members)
    }
}
