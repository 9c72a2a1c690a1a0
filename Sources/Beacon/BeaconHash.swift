/// Hashes beacons for tables that strangers can fill: one 128-bit product under a key drawn at random.
///
/// A `Dictionary`'s SipHash takes three times as long, at every sighting. This one is no cryptographic hash; it need
/// not be. To choose identities that share a slot one has to know the key, and nothing that can be observed from the
/// air depends on it: places are given out in order, and a slot more or less is some nanoseconds in a receiver that
/// answers nobody. The tables are bounded besides.
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
