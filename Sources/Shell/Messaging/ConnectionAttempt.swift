import Base

/// How to connect to the broker.
struct ConnectionAttempt: Hashable {
    var host: String
    var level: MQTTProtocolLevel
    /// The broker forgets the session.
    var isClean: Bool
    /// What the broker accepts as the will: one of a higher quality, or retained, it would refuse with the connection.
    var willLimits = BrokerLimits.none
}
