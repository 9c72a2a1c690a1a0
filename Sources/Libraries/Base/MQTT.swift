/// Quality of service of MQTT.
package enum QoS: UInt8, Hashable, Sendable, CaseIterable, Comparable {
    case atMostOnce = 0
    case atLeastOnce = 1
    case exactlyOnce = 2

    package static func < (lhs: QoS, rhs: QoS) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// Versions of MQTT, by the number that goes over the wire.
package enum MQTTProtocolLevel: UInt8, Hashable, Sendable, CaseIterable {
    case v3_1 = 3
    case v3_1_1 = 4
    case v5 = 5
}
