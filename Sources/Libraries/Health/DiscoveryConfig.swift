package import Base
package import JSON

extension Publication {
    /// A message for Home Assistant. All of them are retained and not encrypted.
    ///
    /// - Parameter text: Empty: the retained message is removed.
    package static func homeAssistant(_ topic: String, _ text: String) -> Publication {
        Publication(.state, topic: topic, payload: Array(text.utf8), isRetained: true)
    }
}

/// The description of one entity for Home Assistant's MQTT discovery.
///
/// One message per entity: device-based discovery (one message per device) came with Home Assistant
/// 2024.11, and this older form is understood by every version before and after it.
package struct DiscoveryConfig {
    /// `binary_sensor`, `sensor`, …
    let component: String
    /// Unique within `nodeID`, and independent of names that users change.
    let object: String
    let members: [String: JSONValue]

    package init(component: String, object: String, members: [String: JSONValue]) {
        (self.component, self.object, self.members) = (component, object, members)
    }

    /// - Parameter topics: Those of the gateway or the site, whose node id is also in the unique ids.
    package func message(on topics: DiscoveryTopics, device: JSONValue, origin: JSONValue) -> Publication {
        var all = members
        all["unique_id"] = .string("\(topics.nodeID)_\(object)")
        all["device"] = device
        all["origin"] = origin
        return .homeAssistant(topics.description(component, object), JSONValue.object(all).text)
    }
}
