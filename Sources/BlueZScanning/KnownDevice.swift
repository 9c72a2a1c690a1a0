import Beacon
import DBus

/// The known properties of one device of bluetoothd, so that the change of one property gives a whole report.
struct KnownDevice {
    private(set) var address: DeviceAddress?
    private(set) var rssi: RSSI?
    /// The advertising data as it was on the air, as far as it matters: one structure with Apple's data.
    private(set) var advertisingData: [UInt8] = []
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
