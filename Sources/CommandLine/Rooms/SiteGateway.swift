import JSON
import RoomMessages
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

    /// What is wrong and what to do about it; nil: nothing is.
    func finding(site: String) -> (text: String, cure: String)? {
        let rights =
            "it needs the right to write \(RoomTopic.heard(site: site, gateway: id).text), and not to be in quiet mode"
        return switch trouble {
        case .sharedName: ("several gateways are called \(id)", "give each a deviceId of its own")
        case .offline:
            (
                "\(id) is offline",
                "look at its power and network, or forget it with: ibeacon-gateway rooms gateways remove \(id)"
            )
        case .noReadings: ("\(id) has said where it stands and publishes no readings", rights)
        case .silent: ("\(id) has ceased to publish readings", "is it running? \(rights)")
        case .notListening: ("\(id) does not listen", "see 'ibeacon-gateway doctor' there")
        case .deaf: ("\(id) receives nothing while others do", "look at its radio and its antenna")
        case nil: nil
        }
    }

    var json: JSONValue {
        var members = card?.object ?? [:]
        members["availability"] = availability.map(JSONValue.string) ?? .null
        members["health"] = health ?? .null
        return .object(members)
    }
}
