package import Messaging

/// The connection that a service wants.
package struct BrokerRequest {
    package var settings: BrokerSettings
    package var filters: Set<String>
    /// Decodes messages on the broker's thread.
    package var read: MessageReading?

    package init(settings: BrokerSettings, filters: Set<String>, read: MessageReading? = nil) {
        (self.settings, self.filters, self.read) = (settings, filters, read)
    }
}
