import Base

/// MQTT discovery for Home Assistant.
package struct HomeAssistantSettings: Hashable, Sendable {
    package var discovery = false
    package var prefix = DiscoveryTopics.defaultPrefix
}
