import Base

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
