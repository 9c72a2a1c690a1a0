import Gateway
import JSON
import OwnTracks

/// A message for Home Assistant; all of them are retained and in the clear.
package struct HomeAssistantMessage: Hashable, Sendable {
    package let topic: String
    /// Empty removes what is retained.
    package let payload: String

    package var isRemoval: Bool { payload.isEmpty }
}

/// One entity as Home Assistant's MQTT discovery wants it described.
///
/// One message per entity: device-based discovery (one message per device) came with Home Assistant
/// 2024.11, and this older form is understood by every version before and after it.
struct DiscoveryConfig {
    /// `binary_sensor`, `sensor`, …
    let component: String
    /// Unique within `node`, and never made of a name that people change.
    let object: String
    let members: [String: JSONValue]

    /// - Parameters:
    ///   - node: Names the gateway in topics and unique ids.
    func message(prefix: String, node: String, device: JSONValue, origin: JSONValue) -> HomeAssistantMessage {
        var all = members
        all["unique_id"] = .string("\(node)_\(object)")
        all["device"] = device
        all["origin"] = origin
        return HomeAssistantMessage(
            topic: "\(prefix)/\(component)/\(node)/\(object)/config", payload: JSONValue.object(all).text)
    }
}
