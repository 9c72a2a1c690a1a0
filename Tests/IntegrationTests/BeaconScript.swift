import Beacon
import Scanning
import TestSupport

/// Who is to be heard when: written as a capture, which the service plays as if it came from the air.
struct BeaconScript {
    /// Seconds from the start of the capture, and the beacon heard then.
    private var frames: [(second: Double, beacon: BeaconID, level: Int8)] = []

    static let uuid = BeaconUUID(high: 0xca27_1eae_5fa8_4e80, low: 0x8f08_2a30_2a95_a959)

    /// A waypoint for one beacon of these captures.
    static func waypoint(_ name: String, minor: UInt16) -> String {
        #"{"_type":"waypoint","tst":1600000000,"rid":"\#(name)","desc":"\#(name):\#(uuid):1:\#(minor)"}"#
    }

    /// The beacon advertises ten times a second, or as told.
    ///
    /// - Parameter level: dBm.
    mutating func advertise(
        _ minor: UInt16, from start: Double, to end: Double, every interval: Double = 0.1, level: Int8 = -60
    ) {
        // Not all in the same instant.
        var second = start + interval * Double(minor % 10) / 10
        while second < end {
            hear(minor, at: second, level: level)
            second += interval
        }
    }

    /// Another rhythm than beacons have: any frame at any time.
    mutating func hear(
        _ minor: UInt16, major: UInt16 = 1, uuid: BeaconUUID = BeaconScript.uuid, at second: Double, level: Int8 = -60
    ) {
        frames.append((second, BeaconID(uuid: uuid, major: major, minor: minor), level))
    }

    func write(to path: String) throws {
        var writer = try CaptureWriter(path: path)
        let address = DeviceAddress(value: 0xc0ff_ee00_0001, isRandom: true)
        // The time of a capture begins with its first record: this one is of an unknown beacon.
        let nobody = BeaconID(uuid: Self.uuid, major: 1, minor: .max)
        for (second, beacon, level) in [(0, nobody, -60)] + frames.sorted(by: { $0.second < $1.second }) {
            let data = Self.data(minor: beacon.minor, major: beacon.major, uuid: beacon.uuid)
            try writer.write(
                AdvertisingReport(address: address, rssi: RSSI(reported: level)), data: data.span,
                wallMicroseconds: 1_700_000_000_000_000 + Int64(second * 1e6),
                receiver: Receiver(index: 0))
        }
        try writer.close()
    }

    /// Flags and an iBeacon frame.
    static func data(minor: UInt16, major: UInt16 = 1, uuid: BeaconUUID = BeaconScript.uuid) -> [UInt8] {
        packet(
            [0x02, 0x01, 0x06, 0x1a, 0xff, 0x4c, 0x00, 0x02, 0x15], bigEndianBytes(uuid.high),
            bigEndianBytes(uuid.low), bigEndianBytes(major), bigEndianBytes(minor), [0xc5])
    }
}
