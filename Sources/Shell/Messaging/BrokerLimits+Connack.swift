import Base
import CMosquitto

extension BrokerLimits {
    /// Reads the properties of a CONNACK (MQTT 5, section 3.2.2.3); there are none before MQTT 5.
    init(_ properties: OpaquePointer?) {
        self.init()
        guard let properties else { return }
        var byte: UInt8 = 0
        if mosquitto_property_read_byte(properties, Int32(MQTT_PROP_MAXIMUM_QOS.rawValue), &byte, false) != nil {
            highestQoS = QoS(rawValue: byte)
        }
        if mosquitto_property_read_byte(properties, Int32(MQTT_PROP_RETAIN_AVAILABLE.rawValue), &byte, false) != nil {
            retains = byte != 0
        }
        var size: UInt32 = 0
        if mosquitto_property_read_int32(properties, Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), &size, false)
            != nil
        {
            largestPacket = size
        }
    }
}
