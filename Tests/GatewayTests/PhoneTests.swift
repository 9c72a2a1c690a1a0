import AddressKeys
import Base
import Beacon
import Gateway
import Identities
import Regions
import TestSupport
import Testing

@Suite("A phone that changes its address is one beacon")
struct PhoneTests {
    static let packet: [UInt8] = [0x02, 0x01, 0x1a, 0x0b, 0xff, 0x4c, 0x00, 0x10, 0x06, 1, 2, 3, 4, 5, 6]

    /// A new address of the key.
    private func address(_ ciphers: KeyCiphers, _ random: inout SplitMix64) -> DeviceAddress {
        let part = UInt32.random(in: 0x40_0000...0x7f_ffff, using: &random)
        let hash = ciphers.hash(of: part, key: 0, isReversed: false)
        return DeviceAddress(value: UInt64(part) << 24 | UInt64(hash), isRandom: true)
    }

    /// A day of packets, about every 2 s, under addresses that live 11 s to 15 min.
    ///
    /// - Parameters:
    ///   - pause: Every so many packets there is a pause; nil: none.
    ///   - seconds: How long a pause is.
    ///   - changesAddress: Whether it is a phone; else a beacon that sends at the same instants.
    private func day(pause: Int?, seconds: ClosedRange<Int> = 20...20, changesAddress: Bool = true, hours: Int = 24)
        throws -> Gateway.Counters
    {
        var random = SplitMix64(seed: 1)
        let key = IdentityKey(high: random.next(), low: random.next())
        let ciphers = try #require(KeyCiphers([key]))
        var resolver = IdentityResolver()
        resolver.setKeys([PhoneKey(key)], hash: ciphers)
        var harness = try GatewayHarness(
            "leaveAfter: \"auto\", waypoints: [{_type: \"waypoint\", rid: \"jane\", tst: 1, desc: \"Jane:\(key.uuid)\"}]"
        )
        if changesAddress { harness.handle(.phones([key.uuid])) }
        var current = address(ciphers, &random)
        var (rotation, time) = (0, 0)
        while time < hours * 3600 {
            if time >= rotation {
                current = address(ciphers, &random)
                rotation = time + Int.random(in: 11...900, using: &random)
            }
            let report = AdvertisingReport(address: current, rssi: RSSI(reported: -70))
            let heard = resolver.sender(of: report, data: Self.packet.span, by: Receiver(index: 0), at: harness.now)
            let beacon = Sighting(
                beacon: BeaconID(uuid: key.uuid, major: 0, minor: 0), measuredPower: IdentityResolver.assumedPower,
                rssi: report.rssi, receiver: Receiver(index: 0))
            harness.handle(.sighting(changesAddress ? try #require(heard) : beacon))
            let isPause = pause.map { Int.random(in: 0..<$0, using: &random) == 0 } ?? false
            let gap = isPause ? Int.random(in: seconds, using: &random) : Int.random(in: 1...3, using: &random)
            time += gap
            harness.wait(gap)
        }
        return harness.gateway.counters
    }

    @Test("24 hours with a new address every 11 s to 15 min cause one enter and no leave")
    func rotation() throws {
        let counters = try day(pause: nil)
        #expect((counters.enters, counters.leaves) == (1, 0))
    }

    @Test("nor do they with a pause of 20 s to 4 min every hundred or every thousand packets", arguments: [100, 1000])
    func pauses(_ every: Int) throws {
        let counters = try day(pause: every, seconds: 20...240)
        #expect((counters.enters, counters.leaves) == (1, 0))
    }

    @Test("a beacon that pauses like that leaves: what holds the phone is that it is one")
    func beacon() throws {
        let beacon = try day(pause: 100, seconds: 20...240, changesAddress: false, hours: 6)
        #expect(beacon.leaves > 5)
    }

    @Test("a phone that goes leaves after five minutes, and one with leaveAfter when that says")
    func leaving() throws {
        for (members, seconds) in [("", 300), ("leaveAfter: 20, ", 20)] {
            let uuid = IdentityKey(high: 1, low: 2).uuid
            var harness = try GatewayHarness(
                "leaveAfter: \"auto\", waypoints: [{_type: \"waypoint\", rid: \"jane\", tst: 1, \(members)"
                    + "desc: \"Jane:\(uuid)\"}]")
            harness.handle(.phones([uuid]))
            for _ in 1...100 {
                harness.handle(
                    .sighting(
                        Sighting(
                            beacon: BeaconID(uuid: uuid, major: 0, minor: 0),
                            measuredPower: IdentityResolver.assumedPower, rssi: RSSI(reported: -70),
                            receiver: Receiver(index: 0))))
                harness.wait(1)
            }
            harness.wait(seconds - 3)
            #expect(harness.gateway.counters.leaves == 0)
            harness.wait(5)
            #expect(harness.gateway.counters.leaves == 1)
        }
    }
}
