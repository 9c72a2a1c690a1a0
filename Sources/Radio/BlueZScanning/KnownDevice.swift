import Beacon
import DBus

/// The known properties of one device of bluetoothd, so that the change of one property gives a whole report.
struct KnownDevice {
    private(set) var address: DeviceAddress?
    private(set) var rssi: RSSI?
    /// The advertising data as it was on the air, as far as it matters: one structure with Apple's data.
    private(set) var advertisingData: [UInt8] = []
    /// Service data as it was on the air: bluetoothd reports it with Apple's data, although it comes in packets of
    /// its own. One packet for each telemetry format, which bounds their number.
    private(set) var serviceData: [[UInt8]] = []
    /// Whether the monitor found the device and has not lost it since.
    var isReportedPresent = false

    private static let apple: UInt16 = 0x004c

    /// Applies properties of org.bluez.Device1.
    ///
    /// - Returns: whether they mean that an advertisement was just heard.
    mutating func update(_ properties: BusReader) -> Bool {
        var isHeard = false
        var octets: UInt64?
        var isRandom = address?.isRandom ?? false
        properties.forEachEntry { name, value in
            switch name {
            case "Address":
                octets = value.string.flatMap { UInt64($0.filter { $0 != ":" }, radix: 16) }
            case "AddressType": isRandom = value.string == "random"
            case "RSSI":
                guard let number = value.int16 else { return }
                rssi = RSSI(reported: Int8(clamping: number))
                isHeard = true
            case "ServiceData":
                serviceData = Self.serviceData(value)
                isHeard = true
            case "ManufacturerData":
                guard let data = Self.appleData(value) else { return }
                advertisingData = data
                isHeard = true
            default: break
            }
        }
        if let octets { address = DeviceAddress(value: octets, isRandom: isRandom) }
        return isHeard
    }

    /// The end of the UUID of every service that has a number of 16 bits (Core Specification 5.4, Vol 3, Part B, 2.5.1).
    private static let baseUUID = "-0000-1000-8000-00805f9b34fb"

    /// A dictionary from the UUID of a service to bytes.
    private static func serviceData(_ value: BusReader) -> [[UInt8]] {
        var found: [[UInt8]] = []
        value.forEachEntry { name, content in
            guard name.count == 36, name.hasPrefix("0000"), name.lowercased().hasSuffix(baseUUID),
                let service = UInt16(name.dropFirst(4).prefix(4), radix: 16), let bytes = content.bytes,
                bytes.count <= 251, Telemetry.Format(rawValue: service) != nil
            else { return }
            let head = [UInt8(bytes.count + 3), AdvertisingData.serviceData16]
            found.append(head + [UInt8(service & 0xff), UInt8(service >> 8)] + bytes)
        }
        return found
    }

    /// A dictionary from company to bytes. The company is a number, so it is decoded here.
    private static func appleData(_ value: BusReader) -> [UInt8]? {
        var found: [UInt8]?
        value.forEach { element in
            guard var entry = element.inside, entry.uint16 == apple else { return }
            entry.next()
            guard let content = entry.inside?.bytes, content.count <= 251 else { return }
            found = [UInt8(content.count + 3), AdvertisingData.manufacturerSpecificData, 0x4c, 0x00] + content
        }
        return found
    }
}
