/// Versions of MQTT, by the number that goes over the wire.
package enum MQTTProtocolLevel: UInt8, Hashable, Sendable, CaseIterable {
    case v3_1 = 3
    case v3_1_1 = 4
    case v5 = 5
}
