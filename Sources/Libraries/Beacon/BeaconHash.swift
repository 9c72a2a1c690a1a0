/// Hashes beacons for tables that any transmitter can fill: one 128-bit product with a random key.
///
/// A `Dictionary`'s SipHash takes three times as long, at every sighting. This hash is not cryptographic and need not
/// be. To choose identities that share a slot, an attacker must know the key, and nothing that can be observed over the
/// air depends on it: places are assigned in order, and one slot more or less changes the time by some nanoseconds in a
/// receiver that never answers. Moreover, the tables are bounded.
package struct BeaconHash: Sendable, BitwiseCopyable {
    private let first = UInt64.random(in: .min ... .max)
    private let second = UInt64.random(in: .min ... .max)

    package init() {}

    package func callAsFunction(_ beacon: BeaconID) -> Int {
        let numbers = UInt64(beacon.major) << 16 | UInt64(beacon.minor)
        let left = beacon.uuid.high ^ first
        let right = beacon.uuid.low ^ second ^ (numbers &* 0x9e37_79b9_7f4a_7c15)
        let product = left.multipliedFullWidth(by: right)
        return Int(truncatingIfNeeded: product.high ^ product.low)
    }
}
