package import Identities

extension BeaconPacketPattern {
    /// How packets of phones, watches and other devices begin that have an address as their identity. No pattern means an
    /// address, so a controller that matches patterns itself delivers only these of their packets.
    private static let devices: [BeaconPacketPattern] =
        // Flags of devices that may be found, and of those that may not (Core Specification Supplement, Part A, 1.3).
        [0x02, 0x04, 0x05, 0x06, 0x1a].map { BeaconPacketPattern(type: 0x01, start: [$0]) }
        // Apple, Samsung, Microsoft (Assigned Numbers, 7).
        + [0x4c, 0x75, 0x06].map { BeaconPacketPattern(type: 0xff, start: [$0, 0x00]) }
        // Google: Nearby, Fast Pair (Assigned Numbers, 3.11).
        + [0xf3, 0x2c].map { BeaconPacketPattern(type: 0x16, start: [$0, 0xfe]) }

    private static let altBeacon = BeaconPacketPattern(type: 0xff, offset: 2, start: [0xbe, 0xac])

    /// What monitors ask for beside iBeacons and telemetry. Frames come first: each needs one pattern, and no other serves for it.
    fileprivate static func wanted(devices: Bool, eddystone: Bool, altBeacons: Bool) -> [BeaconPacketPattern] {
        (eddystone ? [.eddystone] : []) + (altBeacons ? [altBeacon] : []) + (devices ? Self.devices : [])
    }
}

extension IdentityResolver {
    /// What monitors ask for beside iBeacons and telemetry; empty if nothing else is to be found.
    package var patterns: [BeaconPacketPattern] {
        BeaconPacketPattern.wanted(
            devices: hearsSenders, eddystone: hearsEddystones, altBeacons: hearsAltBeacons)
    }
}
