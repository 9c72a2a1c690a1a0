package import Beacon

extension BeaconID {
    /// What a gateway sends at one metre is not measured, so it claims what most beacons do.
    private static let measuredPower = MeasuredPower(dBm: -59)

    /// The AD structure of an iBeacon frame: its length, its type, and Apple's company, type and length, then UUID, major, minor and
    /// power. The Flags are not in it: a packet that nobody can connect to needs none.
    package var advertisingData: [UInt8] {
        func octets(_ number: some FixedWidthInteger) -> [UInt8] {
            (0..<number.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        return [0x1a, 0xff, 0x4c, 0x00, 0x02, 0x15] + octets(uuid.high) + octets(uuid.low) + octets(major)
            + octets(minor) + [UInt8(bitPattern: Self.measuredPower.dBm)]
    }
}
