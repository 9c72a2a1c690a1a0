import Base
import Beacon
import TestSupport
import Testing

@testable import Identities

/// Strangers whose addresses fit a key by chance: false enters in a year, and how long a phone that comes home waits.
@Suite("Chance matches")
struct ChanceTests {
    /// Fits by chance, 256 times as often as an address of 24 bits does. So a 256th of the addresses is enough.
    private final class ChanceHash: AddressHash {
        private var random: SplitMix64
        /// The address that is the phone's own.
        var own: (key: Int, random: UInt32)?

        init(seed: UInt64) { random = SplitMix64(seed: seed) }

        func hash(of part: UInt32, key: Int, isReversed: Bool) -> UInt32 {
            if let own, own.random == part { return own.key == key && !isReversed ? 0 : 1 }
            return random.next() >> 48 == 0 ? 0 : 1
        }
    }

    private static func packet(_ kind: Int, _ variant: Int) -> [UInt8] {
        switch kind {
        case 0: [0x02, 0x01, 0x1a, 0x05, 0xff, 0x4c, 0x00, UInt8(variant), 0x00]
        case 1: [0x03, 0x16, UInt8(variant), 0xfe]
        default: [0x02, 0x01, 0x06, 0x04, 0xff, UInt8(variant), 0x01, 0x00]
        }
    }

    /// 60 % Apple's messages of four types, 30 % Android's services of three kinds, 10 % others of ten.
    private static func stranger(_ random: inout SplitMix64) -> [UInt8] {
        let share = Int.random(in: 0..<10, using: &random)
        let kind = share < 6 ? 0 : share < 9 ? 1 : 2
        return packet(kind, Int.random(in: 0..<[4, 3, 10][kind], using: &random))
    }

    /// False enters in a year, the mean of some years. All phones are known and away; half of them send three of Apple's
    /// types, the others two of Android's services.
    private func falseEnters(keys count: Int, addressesPerDay: Int, years: Int) -> Double {
        var random = SplitMix64(seed: 7)
        let hash = ChanceHash(seed: 11)
        var resolver = IdentityResolver()
        resolver.setKeys((0..<count).map { PhoneKey(IdentityKey(high: UInt64($0 + 1), low: 1 << 63)) }, hash: hash)
        var address: UInt64 = 1 << 46
        func hears(_ packet: [UInt8], at seconds: Int) -> Bool {
            address += 1 << 24
            if address >> 46 != 1 { address = 1 << 46 }
            if let own = hash.own { hash.own = (own.key, UInt32(address >> 24)) }
            let report = AdvertisingReport(address: DeviceAddress(value: address, isRandom: true), rssi: nil)
            let now = MonotonicInstant.zero.advanced(by: .seconds(seconds))
            return resolver.sender(of: report, data: packet.span, by: Receiver(index: 0), at: now) != nil
        }
        for phone in 0..<count {
            hash.own = (phone, 0)
            for variant in 0..<3 {
                #expect(hears(Self.packet(phone % 2, phone % 2 == 0 ? variant : variant % 2), at: variant))
            }
        }
        hash.own = nil
        let addresses = addressesPerDay * 365 * years / 256
        var enters = 0
        for number in 0..<addresses {
            let seconds = 86400 + Int(Double(number) / Double(addresses) * Double(years) * 365 * 86400)
            if hears(Self.stranger(&random), at: seconds) { enters += 1 }
        }
        return Double(enters) / Double(years)
    }

    @Test("8 keys and 10,000 new addresses a day: less than one false enter a year")
    func house() {
        let enters = falseEnters(keys: 8, addressesPerDay: 10_000, years: 30)
        // Without evidence it would be 1.7.
        #expect(enters > 0.2 && enters < 1, "\(enters) a year")
    }

    @Test("64 keys and 50,000 new addresses a day: about two false enters a month")
    func office() {
        let enters = falseEnters(keys: 64, addressesPerDay: 50_000, years: 1) / 12
        // Without evidence it would be 5.8.
        #expect(enters > 1 && enters < 3, "\(enters) a month")
    }
}
