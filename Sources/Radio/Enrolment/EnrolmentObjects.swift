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

        init(_ name: String, _ uuid: String, _ flags: [String], _ value: [UInt8]) {
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

extension BusWriter {
    fileprivate mutating func strings(_ values: [String]) {
        container(BusType.array, "s") { array in for value in values { array.string(value) } }
    }
}
