import Beacon
import DBus

/// What bluetoothd has said about one device, so that a change of one property makes a whole report.
struct KnownDevice {
    private(set) var address: DeviceAddress?
    private(set) var rssi: RSSI?
    /// The advertising data as it was on the air, as far as it matters: one structure with Apple's data.
    private(set) var advertisingData: [UInt8] = []
    /// bluetoothd vouches for it: found by the monitor and not lost since.
    var isReportedPresent = false

    private static let apple: UInt16 = 0x004c

    /// Takes over what org.bluez.Device1's properties say.
    ///
    /// - Returns: whether they tell of an advertisement just heard.
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

    /// A dictionary from company to bytes. The company is no text, so it is taken apart by hand.
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
