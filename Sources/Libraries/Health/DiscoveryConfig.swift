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
    /// Unique within `node`, and independent of names that users change.
    let object: String
    let members: [String: JSONValue]

    package init(component: String, object: String, members: [String: JSONValue]) {
        (self.component, self.object, self.members) = (component, object, members)
    }

    package static func topic(_ component: String, _ object: String, prefix: String, node: String) -> String {
        "\(prefix)/\(component)/\(node)/\(object)/config"
    }

    /// Where Home Assistant publishes `online` when it has started. Its default topic does not follow the discovery prefix.
    /// A user who has changed the prefix may have changed the topic, too.
    package static func birthTopics(prefix: String) -> Set<String> { ["homeassistant/status", "\(prefix)/status"] }

    /// - Parameters:
    ///   - node: Names the gateway or the site in topics and unique ids.
    package func message(prefix: String, node: String, device: JSONValue, origin: JSONValue) -> Publication {
        var all = members
        all["unique_id"] = .string("\(node)_\(object)")
        all["device"] = device
        all["origin"] = origin
        return .homeAssistant(
            Self.topic(component, object, prefix: prefix, node: node), JSONValue.object(all).text)
    }
}
