import Beacon

/// How the content of an AD structure begins in packets that the gateway reads. Advertisement monitors are set with
/// such patterns.
package struct BeaconPacketPattern: Hashable, Sendable {
    /// The AD type.
    package let type: UInt8
    /// Where in the content of the structure `start` begins, in bytes.
    package let offset: UInt8
    package let start: [UInt8]

    package init(type: UInt8, offset: UInt8 = 0, start: [UInt8]) {
        self.type = type
        self.offset = offset
        self.start = start
    }

    /// Manufacturer specific data that begins as every iBeacon does.
    package static let iBeacon = BeaconPacketPattern(
        type: AdvertisingData.manufacturerSpecificData, start: IBeacon.prefix.indices.map { IBeacon.prefix[$0] })

    /// The service data of each telemetry format.
    package static let telemetry = Telemetry.Format.allCases.map { format in
        BeaconPacketPattern(
            type: AdvertisingData.serviceData16, start: [UInt8(format.rawValue & 0xff), UInt8(format.rawValue >> 8)])
    }
}
