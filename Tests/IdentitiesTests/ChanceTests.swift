import Base
import Beacon
import TestSupport
import Testing

@testable import Identities

/// Strangers whose addresses fit a key by chance: false enters in a year, and how long a phone that comes home waits.
///
/// 60 % of the strangers send Apple's messages, 30 % Android's, 10 % others; an address lives for 15 min. How models and settings
/// are distributed within these is our assumption: five transmission powers and four octets of features for Apple's Nearby
/// Info, which each of them sends, three services of three lengths for Android, and forty companies of others.
@Suite("Chance matches")
struct ChanceTests {
    /// Fits by chance, `scale` times as often as an address of 24 bits does.
    private final class ChanceHash: AddressHash {
        /// A year's chance matches happen in a 256th of a year, with a 256th of the addresses.
        static let scale = 256
        private var random: SplitMix64
        /// The address that is the phone's own.
        var own: (key: Int, random: UInt32)?

        init(seed: UInt64) { random = SplitMix64(seed: seed) }

        func hash(of part: UInt32, key: Int, isReversed: Bool) -> UInt32 {
            if let own, own.random == part { return own.key == key && !isReversed ? 0 : 1 }
            return random.next() >> 48 == 0 ? 0 : 1
        }
    }

    /// A model of device with its settings: the packets that it sends, the frequent ones first.
    private struct Device {
        let packets: [[UInt8]]

        private static func one<T>(of values: [(T, Int)], _ random: inout SplitMix64) -> T {
            var number = Int.random(in: 0..<values.reduce(0) { $0 + $1.1 }, using: &random)
            for (value, weight) in values {
                if number < weight { return value }
                number -= weight
            }
            return values[0].0
        }

        private static func apple(_ power: UInt8?, _ message: [UInt8]) -> [UInt8] {
            [0x02, 0x01, 0x1a] + (power.map { [0x02, 0x0a, $0] } ?? [])
                + [UInt8(message.count + 3), 0xff, 0x4c, 0x00] + message
        }

        static func apple(_ random: inout SplitMix64) -> Device {
            let power: UInt8 = one(of: [(0x0c, 35), (0x08, 25), (0x07, 20), (0x18, 10), (0x05, 10)], &random)
            let features: UInt8 = one(of: [(0x1c, 40), (0x18, 30), (0x98, 20), (0x3c, 10)], &random)
            var packets = [apple(power, [0x10, 0x05, 0x03, features, 1, 2, 3])]
            // Handoff, the message of idle phones, and one that belongs to a network of lost things.
            if Int.random(in: 0..<100, using: &random) < 35 {
                packets.append(apple(power, [0x0c, 0x0e] + [UInt8](repeating: 0, count: 14)))
            }
            if Int.random(in: 0..<100, using: &random) < 50 {
                packets.append(apple(nil, [0x16, 0x08] + [UInt8](repeating: 0, count: 8)))
            }
            if Int.random(in: 0..<100, using: &random) < 20 { packets.append(apple(nil, [0x12, 0x02, 0, 0])) }
            return Device(packets: packets)
        }

        static func android(_ random: inout SplitMix64) -> Device {
            func packet(_ service: UInt16, _ count: Int) -> [UInt8] {
                [UInt8(count + 3), 0x16, UInt8(service & 0xff), UInt8(service >> 8)]
                    + [UInt8](repeating: 0, count: count)
            }
            let services: [(UInt16, Int)] = [(0xfef3, 50), (0xfe2c, 30), (0xfcf1, 20)]
            let count = one(of: [(17, 50), (12, 30), (6, 20)], &random)
            return Device(
                packets: Set((0..<2).map { _ in one(of: services, &random) }).sorted().map { packet($0, count) })
        }

        static func other(_ random: inout SplitMix64) -> Device {
            Device(packets: [[0x02, 0x01, 0x06, 0x04, 0xff, UInt8.random(in: 0..<40, using: &random), 0x01, 0x00]])
        }

        static func stranger(_ random: inout SplitMix64) -> Device {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6: apple(&random)
            case 6..<9: android(&random)
            default: other(&random)
            }
        }
    }

    /// A gateway with phones among strangers, in virtual time.
    private struct Street {
        private(set) var random: SplitMix64
        private let hash: ChanceHash
        private(set) var resolver = IdentityResolver()
        let phones: [Device]
        /// Models of the strangers, chosen once: what passes is one of these.
        private let models: [Device]
        private var address: UInt64 = 1 << 46
        /// Since the start.
        private(set) var seconds = 0.0

        /// - Parameter ownsApple: Which of the phones are Apple's.
        init(keys count: Int, seed: UInt64, ownsApple: (Int) -> Bool) {
            var random = SplitMix64(seed: seed)
            phones = (0..<count).map { ownsApple($0) ? .apple(&random) : .android(&random) }
            models = (0..<4096).map { _ in .stranger(&random) }
            self.random = random
            hash = ChanceHash(seed: seed + 1)
            resolver.setKeys((0..<count).map { PhoneKey(IdentityKey(high: UInt64($0 + 1), low: 1 << 63)) }, hash: hash)
            // Every phone was at home under two addresses.
            for phone in 0..<count {
                for _ in 0..<2 {
                    newAddress(of: phone)
                    for packet in phones[phone].packets { _ = hears(packet) }
                }
            }
            hash.own = nil
        }

        private mutating func newAddress(of phone: Int?) {
            address += 1 << 24
            if address >> 46 != 1 { address = 1 << 46 }
            hash.own = phone.map { ($0, UInt32(address >> 24)) }
        }

        private mutating func hears(_ packet: [UInt8]) -> Bool {
            let report = AdvertisingReport(address: DeviceAddress(value: address, isRandom: true), rssi: nil)
            let now = MonotonicInstant.zero.advanced(by: .seconds(seconds))
            return resolver.sender(of: report, data: packet.span, by: Receiver(index: 0), at: now) != nil
        }

        /// Strangers pass.
        ///
        /// - Returns: How many are taken for a phone.
        mutating func pass(addressesPerDay: Int, days: Double) -> Int {
            let count = Int(Double(addressesPerDay) * days)
            var enters = 0
            for _ in 0..<count {
                seconds += 86400 * days / Double(count)
                newAddress(of: nil)
                let device = models[Int(random.next() >> 52)]
                var isTaken = false
                for packet in device.packets where hears(packet) { isTaken = true }
                if isTaken { enters += 1 }
            }
            return enters
        }

        /// A phone comes home after hours. It sends a packet every 1.5 s on average, of which a third is lost.
        ///
        /// - Returns: Seconds from its first packet until it is heard; 900 if not before its address changes.
        mutating func arrival(of phone: Int) -> Double {
            newAddress(of: phone)
            let begin = seconds
            defer {
                hash.own = nil
                seconds = begin
            }
            var isFirst = true
            while seconds - begin < 900 {
                if isFirst || Int.random(in: 0..<3, using: &random) > 0 {
                    isFirst = false
                    let packets = phones[phone].packets
                    // Half of the packets are of the most frequent kind.
                    let kind = Bool.random(using: &random) ? 0 : Int.random(in: packets.indices, using: &random)
                    if hears(packets[kind]) { return seconds - begin }
                }
                seconds += Double.random(in: 0..<3, using: &random)
            }
            return 900
        }
    }

    private struct Case: CustomTestStringConvertible, Sendable {
        let keys: Int
        let addressesPerDay: Int
        /// Of ten phones, how many are Apple's.
        let apple: Int
        let years: Int
        /// False enters in a year.
        let most: Double
        var testDescription: String { "\(keys) keys, \(addressesPerDay) addresses a day, \(apple)0 % of Apple" }
    }

    private static let cases = [
        Case(keys: 8, addressesPerDay: 10_000, apple: 5, years: 10, most: 1),
        Case(keys: 8, addressesPerDay: 10_000, apple: 10, years: 10, most: 1),
        Case(keys: 64, addressesPerDay: 50_000, apple: 5, years: 1, most: 12),
        Case(keys: 64, addressesPerDay: 50_000, apple: 10, years: 1, most: 12),
    ]

    @Test(
        "at most one false enter a year in a home, and one a month in an office, while all are away", arguments: cases)
    private func falseEnters(_ place: Case) {
        var street = Street(keys: place.keys, seed: 7) { $0 % 10 < place.apple }
        // The first hours are not counted: what strangers send is not known yet.
        _ = street.pass(addressesPerDay: place.addressesPerDay, days: 0.2)
        let days = Double(365 * place.years) / Double(ChanceHash.scale)
        let enters = Double(street.pass(addressesPerDay: place.addressesPerDay, days: days)) / Double(place.years)
        #expect(enters <= place.most, "\(enters) a year")
        #expect(enters > 0, "the test finds no chance match at all")
    }

    @Test(
        "a phone that comes home is heard after 5 s in half of the cases, and after 15 s in nine of ten",
        arguments: cases)
    private func arrivals(_ place: Case) {
        var street = Street(keys: place.keys, seed: 9) { $0 % 10 < place.apple }
        _ = street.pass(addressesPerDay: place.addressesPerDay, days: 0.2)
        var delays: [Double] = []
        for _ in 0..<(512 / place.keys) {
            for phone in 0..<place.keys { delays.append(street.arrival(of: phone)) }
            // Longer than a second address counts as evidence.
            _ = street.pass(addressesPerDay: place.addressesPerDay, days: 0.03)
        }
        delays.sort()
        #expect(delays[delays.count / 2] <= 5)
        #expect(delays[delays.count * 9 / 10] <= 15)
    }
}
