package import Base

/// What a broker of MQTT 5 announces when it accepts a connection.
package struct BrokerLimits: Hashable, Sendable {
    /// The highest quality of messages to the broker; nil: any.
    package var highestQoS: QoS?
    /// The largest packet to the broker in bytes; nil: any.
    package var largestPacket: UInt32?
    /// Whether it retains messages.
    package var retains = true

    package init(highestQoS: QoS? = nil, largestPacket: UInt32? = nil, retains: Bool = true) {
        (self.highestQoS, self.largestPacket, self.retains) = (highestQoS, largestPacket, retains)
    }

    package static let none = BrokerLimits()
}
