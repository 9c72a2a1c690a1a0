/// The topics of Home Assistant's MQTT discovery that a gateway or a site uses.
package struct DiscoveryTopics: Hashable, Sendable {
    package static let defaultPrefix = "homeassistant"
    /// Default topic of Home Assistant's birth message. It does not follow the discovery prefix.
    package static let defaultBirth = "\(defaultPrefix)/status"

    /// The discovery prefix, usually `homeassistant`.
    package let prefix: String
    /// The level of the gateway or the site: Home Assistant calls it `node_id`.
    package let nodeID: String

    package init(prefix: String, nodeID: String) { (self.prefix, self.nodeID) = (prefix, nodeID) }

    /// Those of a gateway, by its `deviceId`.
    package init(prefix: String, device: String) {
        self.init(prefix: prefix, nodeID: "ibeacon-gateway-" + TopicIdentifier.identifier(of: device))
    }

    /// Where Home Assistant publishes `online` when it has started. A user who has changed the prefix may have changed the topic, too.
    package static func births(prefix: String) -> Set<String> { [defaultBirth, "\(prefix)/status"] }

    /// As `births(prefix:)`.
    package var births: Set<String> { Self.births(prefix: prefix) }

    /// The description of one entity.
    ///
    /// - Parameter component: `binary_sensor`, `sensor`, …
    package func description(_ component: String, _ object: String) -> String {
        "\(prefix)/\(component)/\(nodeID)/\(object)/config"
    }

    /// The topics of all descriptions.
    package var descriptions: String { "\(prefix)/+/\(nodeID)/+/config" }

    /// The descriptions of everybody, with and without a node id.
    package static func all(prefix: String) -> Set<String> { ["\(prefix)/+/+/config", "\(prefix)/+/+/+/config"] }

    /// Whether a topic is that of a description.
    package func isDescription(_ topic: String) -> Bool {
        topic.hasPrefix(prefix + "/") && topic.hasSuffix("/config") && topic.hasPart("/\(nodeID)/")
    }
}
