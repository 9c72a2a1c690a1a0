package import Base
package import Messaging
package import Shell

/// The broker link that the settings ask for, at each opening: MQTT, or HTTP.
package final class BrokerLinkByMode: BrokerLink {
    private let mqtt: any BrokerLink
    private let http: any BrokerLink
    private var current: any BrokerLink

    package init(mqtt: any BrokerLink, http: any BrokerLink) {
        self.mqtt = mqtt
        self.http = http
        current = mqtt
    }

    package var settings: BrokerSettings? { current.settings }
    package var isConnected: Bool { current.isConnected }
    package var droppedMessages: Int { current.droppedMessages }

    package func open(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws {
        current = settings.endpoint == nil ? mqtt : http
        try current.open(settings, filters: filters, read: read, onEvents: onEvents)
    }

    package func subscribe(to filters: Set<String>) { current.subscribe(to: filters) }
    package func publish(_ publication: Publication, as token: MessageToken) -> Bool {
        current.publish(publication, as: token)
    }
    package func drainEvents() -> [BrokerEvent] { current.drainEvents() }
    package func close(within limit: Duration) {
        mqtt.close(within: limit)
        http.close(within: limit)
    }
    package func retire(within limit: Duration) { current.retire(within: limit) }
}
