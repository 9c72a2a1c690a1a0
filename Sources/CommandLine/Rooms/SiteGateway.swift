import JSON
import RoomService
import Rooms

/// A gateway as the retained messages of a site show it.
struct SiteGateway {
    let id: String
    /// What it says of itself; nil: an ESPresense node.
    var card: JSONValue?
    /// What the active service says of it; nil: there is none, or it has not said anything yet.
    var health: JSONValue?
    /// `online` or `offline`, as the broker has it.
    var availability: String?

    init(id: String) { self.id = id }

    var room: String? { health?["room"]?.string ?? card?["room"]?.string }
    var roomID: String? { room.map(RoomName.id) }

    private var trouble: GatewayHealth.Trouble? {
        health?["problem"]?.string.flatMap(GatewayHealth.Trouble.init(rawValue:))
    }

    /// A word or two for a table.
    var state: String {
        switch trouble {
        case .sharedName: "shared name"
        case .offline: "offline"
        case .noReadings: "no readings"
        case .silent: "silent"
        case .notListening: "not listening"
        case .deaf: "deaf"
        case nil: health?["listening"]?.asBool == true ? "listening" : availability ?? "unknown"
        }
    }

    /// nil: nothing is wrong.
    func advice(site: String) -> GatewayAdvice? { trouble.map { GatewayAdvice($0, of: id, site: site) } }

    var json: JSONValue {
        var members = card?.object ?? [:]
        members["availability"] = availability.map(JSONValue.string) ?? .null
        members["health"] = health ?? .null
        return .object(members)
    }
}
