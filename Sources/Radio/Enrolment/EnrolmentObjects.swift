import Base
import DBus

/// What a phone sees of the gateway while one is enrolled: the objects that bluetoothd asks for (BlueZ,
/// `org.bluez.LEAdvertisement`, `org.bluez.GattService`, `org.bluez.GattCharacteristic`, `org.bluez.Agent`).
enum EnrolmentObjects {
    static let root = "/org/ibeacon_gateway/enrolment"
    static let agent = "\(root)/agent"
    static let advertisement = "\(root)/advertisement"
    static let service = "\(root)/service"

    static let advertisementInterface = "org.bluez.LEAdvertisement1"
    static let serviceInterface = "org.bluez.GattService1"
    static let characteristicInterface = "org.bluez.GattCharacteristic1"

    /// A characteristic with a value that never changes.
    struct Characteristic {
        let path: String
        let uuid: String
        let flags: [String]
        let value: [UInt8]

        fileprivate init(_ name: String, _ uuid: String, _ flags: [String], _ value: [UInt8]) {
            (path, self.uuid, self.flags, self.value) = ("\(EnrolmentObjects.service)/\(name)", uuid, flags, value)
        }
    }

    /// The answer to GetManagedObjects: the service and its characteristics.
    static func describe(_ profile: AccessoryProfile, in message: BusMessage) {
        message.append { writer in
            writer.container(BusType.array, "{oa{sa{sv}}}") { objects in
                objects.object(service, serviceInterface) { properties in
                    properties.property("UUID", "s") { $0.string(profile.service) }
                    properties.property("Primary", "b") { $0.boolean(true) }
                }
                for characteristic in profile.characteristics {
                    objects.object(characteristic.path, characteristicInterface) { properties in
                        properties.property("UUID", "s") { $0.string(characteristic.uuid) }
                        properties.property("Service", "o") { $0.path(service) }
                        properties.property("Flags", "as") { $0.strings(characteristic.flags) }
                    }
                }
            }
        }
    }

    /// The answer to GetAll of the advertisement.
    static func describeAdvertisement(_ profile: AccessoryProfile, _ name: String, in message: BusMessage) {
        message.append { writer in
            writer.container(BusType.array, "{sv}") { properties in
                properties.property("Type", "s") { $0.string("peripheral") }
                properties.property("ServiceUUIDs", "as") { $0.strings([profile.service]) }
                properties.property("LocalName", "s") { $0.string(name) }
                properties.property("Appearance", "q") { $0.uint16(profile.appearance) }
                properties.property("Discoverable", "b") { $0.boolean(true) }
            }
        }
    }

    /// The answer to ReadValue.
    static func value(_ bytes: [UInt8], in message: BusMessage) {
        message.append { writer in
            writer.container(BusType.array, "y") { array in for byte in bytes { array.byte(byte) } }
        }
    }
}

/// What accessory the gateway appears to be. Phones list only what they know how to use.
package enum AccessoryProfile: Sendable {
    /// Apple's devices pair with it, and many of Android.
    case heartRateSensor
    /// Samsung's phones list it under Bluetooth.
    case keyboard

    /// The 16-bit UUIDs of the Assigned Numbers (3.4) in the form of BlueZ.
    private static func uuid(_ digits: String) -> String { "0000\(digits)-0000-1000-8000-00805f9b34fb" }

    var service: String { Self.uuid(hexadecimal(UInt64(number), digits: 4)) }

    /// The 16-bit UUID of the service.
    var number: UInt16 {
        switch self {
        case .heartRateSensor: 0x180d
        case .keyboard: 0x1812
        }
    }

    /// Assigned Numbers, 2.6.
    var appearance: UInt16 {
        switch self {
        case .heartRateSensor: 0x0340
        case .keyboard: 0x03c1
        }
    }

    /// A phone that reads one of them must encrypt the connection, so it pairs.
    var characteristics: [EnrolmentObjects.Characteristic] {
        switch self {
        case .heartRateSensor:
            [
                // Heart Rate Measurement: 8 bits, no contact, 0 beats a minute. Body Sensor Location: other.
                .init("measurement", Self.uuid("2a37"), ["encrypt-read", "notify"], [0x00, 0x00]),
                .init("location", Self.uuid("2a38"), ["encrypt-read"], [0x00]),
            ]
        case .keyboard:
            [
                // HID Information: version 1.11, no country. Report Map: a keyboard that reports nothing.
                .init("information", Self.uuid("2a4a"), ["encrypt-read"], [0x11, 0x01, 0x00, 0x02]),
                .init("map", Self.uuid("2a4b"), ["encrypt-read"], [0x05, 0x01, 0x09, 0x06, 0xa1, 0x01, 0xc0]),
                .init("control", Self.uuid("2a4c"), ["encrypt-write"], []),
            ]
        }
    }
}

extension BusWriter {
    fileprivate mutating func strings(_ values: [String]) {
        container(BusType.array, "s") { array in for value in values { array.string(value) } }
    }
}
