import AddressKeys
import Base
import Beacon
import TestSupport
import Testing

@testable import Identities

@Suite("Sightings of what is no iBeacon")
struct IdentityResolverTests {
    static let receiver = Receiver(index: 3)
    static let packet: [UInt8] = [0x02, 0x01, 0x06]

    private func sender(
        _ resolver: inout IdentityResolver, _ value: UInt64, isRandom: Bool = true, _ packet: [UInt8] = packet,
        at now: MonotonicInstant = .zero
    ) -> Sighting? {
        let report = AdvertisingReport(
            address: DeviceAddress(value: value, isRandom: isRandom), rssi: RSSI(reported: -70))
        return resolver.sender(of: report, data: packet.span, by: Self.receiver, at: now)
    }

    @Test("without identities and keys nothing is looked for")
    func off() {
        var resolver = IdentityResolver()
        #expect(!resolver.isOn)
        #expect(sender(&resolver, 0xc0ff_ee00_0001) == nil)
    }

    @Test("a fixed address, whatever it sends")
    func address() throws {
        var resolver = IdentityResolver()
        resolver.setIdentities([.address(0xc0ff_ee00_0001), .address(0x0011_2233_4455)])
        let sighting = try #require(sender(&resolver, 0xc0ff_ee00_0001))
        #expect(sighting.beacon.uuid == Identity.address(0xc0ff_ee00_0001).uuid)
        #expect(sighting.rssi == RSSI(reported: -70))
        #expect(sighting.receiver == Self.receiver)
        #expect(
            sender(&resolver, 0x0011_2233_4455, isRandom: false)?.beacon.uuid == Identity.address(0x0011_2233_4455).uuid
        )
        #expect(sender(&resolver, 0xc0ff_ee00_0002) == nil)
    }

    @Test("a random address that changes is no identity")
    func changing() {
        var resolver = IdentityResolver()
        resolver.setIdentities([.address(0x0011_2233_4455), .address(0x4011_2233_4455)])
        #expect(sender(&resolver, 0x0011_2233_4455) == nil)
        #expect(sender(&resolver, 0x4011_2233_4455) == nil)
    }

    @Test("an identity that is removed is not heard any more, and a new one at once")
    func changes() {
        var resolver = IdentityResolver()
        resolver.setIdentities([.address(0xc0ff_ee00_0001)])
        #expect(sender(&resolver, 0xc0ff_ee00_0001) != nil)
        #expect(sender(&resolver, 0xc0ff_ee00_0002) == nil)
        resolver.setIdentities([.address(0xc0ff_ee00_0002)])
        #expect(sender(&resolver, 0xc0ff_ee00_0001) == nil)
        #expect(sender(&resolver, 0xc0ff_ee00_0002) != nil)
    }

    @Test("the frames that regions name, and no others")
    func frames() throws {
        let packet = octets(IdentityFrameTests.altBeaconExample)
        let identity = Identity.altBeacon(BeaconUUID(high: 0x2f23_4454_cf6d_4a0f, low: 0xadf2_f491_1ba9_ffa6))
        let report = AdvertisingReport(address: DeviceAddress(value: 1, isRandom: true), rssi: nil)
        var resolver = IdentityResolver()
        resolver.setIdentities([identity])
        let sighting = resolver.frame(in: packet.span, of: report, by: Self.receiver)
        #expect(sighting?.beacon == BeaconID(uuid: identity.uuid, major: 1, minor: 2))
        #expect(sighting?.measuredPower.dBm == -59)
        let other = resolver.frame(in: octets(IdentityFrameTests.eddystoneExample).span, of: report, by: Self.receiver)
        #expect(other == nil)
    }

    @Test("a namespace alone means all of its Eddystone-UIDs, and one of them beside it is heard as both")
    func namespace() throws {
        let packet = octets(IdentityFrameTests.eddystoneExample)
        let report = AdvertisingReport(address: DeviceAddress(value: 1, isRandom: true), rssi: nil)
        let (one, all) = (
            try #require(Identity("eddystone:2F234454F4911BA9FFA6:000000000001")),
            try #require(Identity("eddystone:2F234454F4911BA9FFA6"))
        )
        let other = try #require(Identity("eddystone:2F234454F4911BA9FFA6:000000000002"))
        for (named, heard) in [
            ([all], [all]), ([one], [one]), ([all, one], [one, all]), ([other, all], [all]), ([other], []),
        ] as [([Identity], [Identity])] {
            var resolver = IdentityResolver()
            resolver.setIdentities(named)
            #expect(resolver.hearsEddystones)
            let frame = resolver.frame(in: packet.span, of: report, by: Self.receiver)
            let found = [frame, frame.flatMap { resolver.alias(of: $0) }].compactMap { $0?.beacon }
            #expect(found == heard.map { BeaconID(uuid: $0.uuid, major: 0, minor: 0) })
        }
    }

    @Test("an address is found again after any number of strangers")
    func flood() {
        var resolver = IdentityResolver()
        resolver.setIdentities([.address(0xc0ff_ee00_0001)])
        for stranger in UInt64(0)..<100_000 {
            #expect(sender(&resolver, 0xd000_0000_0000 + stranger) == nil)
            if stranger % 1000 == 0 { #expect(sender(&resolver, 0xc0ff_ee00_0001) != nil) }
        }
    }

    @Test("as many addresses as are possible do not mix with keys")
    func many() throws {
        var resolver = IdentityResolver()
        resolver.setIdentities(
            (0..<UInt64(IdentityResolver.mostAddresses + 10)).map { .address(0xc000_0000_0000 + $0) })
        let phone = Phone()
        resolver.setKeys([PhoneKey(phone.key)], hash: try #require(KeyCiphers([phone.key])))
        let last = 0xc000_0000_0000 + UInt64(IdentityResolver.mostAddresses)
        #expect(sender(&resolver, last - 1)?.beacon.uuid == Identity.address(last - 1).uuid)
        #expect(sender(&resolver, last) == nil)
        #expect(try sender(&resolver, phone.address())?.beacon.uuid == phone.key.uuid)
    }
}

/// A device that changes its address.
///
/// Its key is the same in each run. One of 60 000 strangers fits a random key once in 280 runs, and then it is right to take it
/// for the device.
struct Phone {
    let key: IdentityKey
    /// How it was given to the gateway.
    let isReversed: Bool

    init(_ number: UInt64 = 1, isReversed: Bool = false) {
        var random = SplitMix64(seed: number)
        key = IdentityKey(high: random.next(), low: random.next())
        self.isReversed = isReversed
    }

    /// A new address.
    func address() throws -> UInt64 {
        let ciphers = try #require(KeyCiphers([key]))
        let random = UInt32.random(in: 0x40_0000...0x7f_ffff)
        return UInt64(random) << 24 | UInt64(ciphers.hash(of: random, key: 0, isReversed: isReversed))
    }
}

@Suite("Devices whose key is known")
struct KeyedDeviceTests {
    static let apple: [UInt8] = [0x02, 0x01, 0x1a, 0x02, 0x0a, 0x0c, 0x08, 0xff, 0x4c, 0x00, 0x10, 0x05, 1, 2, 3]
    static let other: [UInt8] = [0x02, 0x01, 0x06, 0x04, 0xff, 0x06, 0x00, 0x01]

    private func hears(
        _ resolver: inout IdentityResolver, _ address: UInt64, _ packet: [UInt8] = apple, after seconds: Int
    ) -> Bool {
        let report = AdvertisingReport(address: DeviceAddress(value: address, isRandom: true), rssi: nil)
        let now = MonotonicInstant.zero.advanced(by: .seconds(seconds))
        return resolver.sender(of: report, data: packet.span, by: Receiver(index: 0), at: now) != nil
    }

    private func resolver(_ phones: [Phone]) throws -> IdentityResolver {
        var resolver = IdentityResolver()
        resolver.setKeys(phones.map { PhoneKey($0.key) }, hash: try #require(KeyCiphers(phones.map(\.key))))
        return resolver
    }

    /// So many strangers pass in an hour that one of them is taken for a device each year, if its address is enough.
    private func crowd(_ resolver: inout IdentityResolver, _ packet: [UInt8] = other, after seconds: Int) {
        var random = SplitMix64(seed: 0)
        for number in 0..<60_000 {
            let address = 1 << 46 | UInt64.random(in: 0..<1 << 46, using: &random)
            _ = hears(&resolver, address, packet, after: seconds - 3600 + number / 17)
        }
    }

    @Test("a device is heard under every address, in either order of its key", arguments: [false, true])
    func rotation(_ isReversed: Bool) throws {
        let phones = [Phone(1), Phone(2, isReversed: isReversed), Phone(3)]
        var resolver = try resolver(phones)
        for round in 0..<100 {
            for (index, phone) in phones.enumerated() {
                let address = try phone.address()
                #expect(hears(&resolver, address, after: round * 900 + index))
                #expect(hears(&resolver, address, Self.other, after: round * 900 + 10 + index))
            }
            #expect(!hears(&resolver, .random(in: 0..<1 << 46) | 1 << 46, after: round * 900 + 20))
        }
    }

    /// The UUIDs under which a packet is heard.
    private func uuids(_ resolver: inout IdentityResolver, _ address: UInt64, after seconds: Int) -> [BeaconUUID] {
        let report = AdvertisingReport(address: DeviceAddress(value: address, isRandom: true), rssi: nil)
        let now = MonotonicInstant.zero.advanced(by: .seconds(seconds))
        guard
            let sighting = resolver.sender(of: report, data: Self.apple.span, by: Receiver(index: 0), at: now)
        else { return [] }
        return [sighting.beacon.uuid] + [resolver.alias(of: sighting)].compactMap { $0?.beacon.uuid }
    }

    @Test("a device has the UUID of its canonical order, and that of the given order only if something names it")
    func canonical() throws {
        let phone = Phone(isReversed: true)
        let given = PhoneKey(phone.key)
        var resolver = try resolver([phone])
        #expect(uuids(&resolver, try phone.address(), after: 0) == [given.otherUUID])
        resolver.setNamed { $0 == given.uuid }
        #expect(uuids(&resolver, try phone.address(), after: 60) == [given.otherUUID, given.uuid])
        resolver.setNamed { $0 == given.otherUUID }
        #expect(uuids(&resolver, try phone.address(), after: 120) == [given.otherUUID])
    }

    @Test("the order is learned under two addresses, and what was learned stays when the key is turned")
    func order() throws {
        let phone = Phone(isReversed: true)
        var resolver = try resolver([phone])
        #expect(hears(&resolver, try phone.address(), after: 0))
        #expect(resolver.hearings.map(\.phone.isOrdered) == [false])
        #expect(hears(&resolver, try phone.address(), after: 900))
        let learned = try #require(resolver.hearings.first)
        #expect(learned.phone == PhoneKey(phone.key.reversed, isOrdered: true))
        #expect(learned.lastHeard == MonotonicInstant.zero.advanced(by: .seconds(900)))
        resolver.setKeys([learned.phone], hash: try #require(KeyCiphers([learned.phone.key])))
        crowd(&resolver, after: 86400)
        #expect(!hears(&resolver, try phone.address(), Self.other, after: 86400))
        #expect(hears(&resolver, try phone.address(), after: 86401))
        #expect(resolver.hearings.first?.phone == learned.phone)
    }

    @Test("of a key whose order is known the other order fits nothing")
    func known() throws {
        let phone = Phone(isReversed: true)
        var resolver = IdentityResolver()
        resolver.setKeys([PhoneKey(phone.key, isOrdered: true)], hash: try #require(KeyCiphers([phone.key])))
        #expect(!hears(&resolver, try phone.address(), after: 0))
    }

    @Test(
        "a million addresses in an hour: a phone that is near is heard at each packet, and no other one is taken for it"
    )
    func millions() throws {
        let phones = [Phone(1), Phone(2)]
        var resolver = try resolver(phones)
        for phone in phones {
            for seconds in [0, 900] { #expect(hears(&resolver, try phone.address(), after: seconds)) }
        }
        let address = try phones[0].address()
        for number in 0..<1_000_000 {
            let seconds = 86400 + number * 36 / 10_000
            if number % 10_000 == 0 { #expect(hears(&resolver, address, after: seconds)) }
            // Addresses of another kind than those of the keys: none fits by chance.
            _ = hears(&resolver, 1 << 47 | 1 << 46 | UInt64(number), Self.other, after: seconds)
        }
        // Now one that fits is little evidence, and a second one is needed.
        for number in 0..<50_000 { _ = hears(&resolver, 1 << 46 | UInt64(number) << 16, after: 90_001 + number / 1000) }
        #expect(!hears(&resolver, try phones[1].address(), after: 90_060))
        #expect(hears(&resolver, try phones[1].address(), after: 90_960))
    }

    @Test("who repeats the last address of a phone is taken for it, and keeps it from nothing")
    func repeated() throws {
        let phone = Phone()
        var resolver = try resolver([phone])
        #expect(hears(&resolver, try phone.address(), after: 0))
        let last = try phone.address()
        #expect(hears(&resolver, last, after: 900))
        // No gateway can tell the copy: the address is readable on the air.
        for seconds in stride(from: 1000, to: 20_000, by: 100) {
            #expect(hears(&resolver, last, Self.other, after: seconds))
        }
        #expect(hears(&resolver, try phone.address(), after: 20_001))
        #expect(resolver.hearings.map(\.phone.isOrdered) == [true])
    }

    @Test("where few addresses are heard, one that fits is enough")
    func quiet() throws {
        let phone = Phone()
        var resolver = try resolver([phone])
        #expect(hears(&resolver, try phone.address(), after: 0))
        #expect(hears(&resolver, try phone.address(), after: 900))
        #expect(hears(&resolver, try phone.address(), Self.other, after: 86400))
    }

    @Test("in a crowd, a packet that many strangers send is too little, too")
    func common() throws {
        let phone = Phone()
        var resolver = try resolver([phone])
        #expect(hears(&resolver, try phone.address(), after: 0))
        #expect(hears(&resolver, try phone.address(), after: 900))
        #expect(hears(&resolver, try phone.address(), Self.other, after: 901))
        let day = 86400
        crowd(&resolver, Self.apple, after: day)
        let address = try phone.address()
        #expect(!hears(&resolver, address, after: day))
        // What the device sends and strangers do not.
        #expect(hears(&resolver, address, Self.other, after: day + 1))
        #expect(hears(&resolver, address, after: day + 2))
    }

    @Test("once the device is known, one address with a packet of another shape is too little")
    func shape() throws {
        let phone = Phone()
        var resolver = try resolver([phone])
        #expect(hears(&resolver, try phone.address(), after: 0))
        #expect(hears(&resolver, try phone.address(), after: 900))
        let day = 86400
        crowd(&resolver, after: day)
        let stranger = try phone.address()
        #expect(!hears(&resolver, stranger, Self.other, after: day))
        #expect(!hears(&resolver, stranger, Self.other, after: day + 60))
        // A shape of the device: at once.
        #expect(hears(&resolver, stranger, after: day + 61))
    }

    @Test("a second address within half an hour is enough, whatever it sends")
    func secondAddress() throws {
        let phone = Phone()
        var resolver = try resolver([phone])
        #expect(hears(&resolver, try phone.address(), after: 0))
        #expect(hears(&resolver, try phone.address(), after: 900))
        let day = 86400
        crowd(&resolver, after: day)
        #expect(!hears(&resolver, try phone.address(), Self.other, after: day))
        #expect(!hears(&resolver, try phone.address(), Self.other, after: day + 1801))
        #expect(hears(&resolver, try phone.address(), Self.other, after: day + 1801 + 1800))
    }

    @Test("what was learned of a key stays when another is added")
    func added() throws {
        let phones = [Phone(1), Phone(2)]
        var resolver = try resolver([phones[0]])
        #expect(hears(&resolver, try phones[0].address(), after: 0))
        #expect(hears(&resolver, try phones[0].address(), after: 900))
        resolver.setKeys(phones.map { PhoneKey($0.key) }, hash: try #require(KeyCiphers(phones.map(\.key))))
        crowd(&resolver, after: 86400)
        #expect(!hears(&resolver, try phones[0].address(), Self.other, after: 86400))
        #expect(hears(&resolver, try phones[1].address(), Self.other, after: 86400))
    }
}
