import Base
import Beacon
import Rooms
import RoomsSupport
import SiteCore
import SiteProtocol
import Testing

/// A scanner of Home Assistant, and a gateway that listens with the same adapter: one radio counts once.
@Suite struct SharedRadioTests {
    private static let radio = DeviceAddress(value: 0xb827_eb00_2201, isRandom: false)
    private static let other = DeviceAddress(value: 0xb827_eb00_2202, isRandom: false)
    private static let beacon = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    private var site: SiteHarness
    private var now = 0.0
    private var effects: [Site.Effect] = []

    init() throws { site = try SiteHarness(tag: Self.beacon) }

    private mutating func pass(_ message: SiteMessage) { effects += site.pass(message, seconds: now) }

    /// For so many seconds each of them hears the tag. Home Assistant's scanners have one clock and one boot.
    private mutating func hear(_ receivers: String..., seconds: Int) {
        for _ in 0..<seconds {
            now += 1
            for receiver in receivers {
                let second = HeardSecond(
                    startID: receiver.hasPrefix("ha-") ? "ha" : receiver, sequence: Int64(now), at: .seconds(now),
                    listening: .seconds(1), reports: 4,
                    readings: [Reading(beacon: Self.beacon, count: 1, level: -50, power: -59, age: .zero)])
                pass(.heard(gateway: receiver, second))
            }
        }
    }

    private func health(_ gateway: String) -> GatewayHealth? {
        site.core.whereabouts.gateways.health(
            in: site.core.engine, connected: .zero, at: MonotonicInstant(nanoseconds: Int64(now * 1e9))
        )
        .first { $0.name == gateway }
    }

    private var readings: UInt64 { site.core.engine.counters.readings }

    private mutating func place() {
        pass(.card(gateway: "ha-1", GatewayCard(room: "Kitchen", source: Self.radio)))
        pass(.card(gateway: "ha-2", GatewayCard(room: "Hall", source: Self.other)))
        pass(.card(gateway: "pi", GatewayCard(room: "Kitchen", adapters: [Self.radio])))
    }

    @Test mutating func `A scanner with the radio of a gateway that is heard is left out and named, and no other`() {
        place()
        hear("ha-1", "ha-2", "pi", seconds: 5)
        let before = readings
        hear("ha-1", seconds: 3)
        #expect(readings == before)
        hear("ha-2", "pi", seconds: 1)
        #expect(readings == before + 2)
        #expect(health("ha-1")?.trouble == .sameRadio && health("ha-1")?.isListening == false)
        #expect(health("ha-2")?.trouble == nil && health("pi")?.trouble == nil)
        let lines = effects.count {
            if case .log(.info, _, once: "radio ha-1") = $0 { true } else { false }
        }
        #expect(lines == 1)
    }

    @Test mutating func `It is heard again when the gateway has been silent for 25 s, or has another adapter`() {
        place()
        hear("ha-1", "pi", seconds: 5)
        hear("ha-1", seconds: 25)
        let silent = readings
        hear("ha-1", seconds: 5)
        #expect(readings > silent && health("ha-1")?.trouble == nil)
        hear("ha-1", "pi", seconds: 5)
        #expect(health("ha-1")?.trouble == .sameRadio)
        pass(.card(gateway: "pi", GatewayCard(room: "Kitchen", adapters: [Self.other])))
        hear("ha-1", seconds: 1)
        #expect(health("ha-1")?.trouble == nil)
    }

    @Test mutating func `A card alone takes nothing from a scanner: any client can write it`() {
        place()
        hear("ha-1", seconds: 5)
        pass(.card(gateway: "forger", GatewayCard(adapters: [Self.radio])))
        hear("ha-1", "forger", seconds: 1)
        #expect(health("ha-1")?.trouble == nil)
    }

    @Test mutating func `A gateway without a source is never left out`() {
        pass(.card(gateway: "pi", GatewayCard(room: "Kitchen", adapters: [Self.radio])))
        pass(.card(gateway: "twin", GatewayCard(room: "Hall", adapters: [Self.radio])))
        hear("pi", "twin", seconds: 5)
        #expect(health("pi")?.trouble == nil && health("twin")?.trouble == nil)
    }

    @Test mutating func `Scanners of one Home Assistant share its boot and its clock, and are told apart`() {
        place()
        hear("ha-1", "ha-2", seconds: 30)
        #expect(health("ha-1")?.trouble == nil && health("ha-2")?.trouble == nil)
        hear("ha-2", seconds: 30)
        #expect(health("ha-1")?.trouble == .silent && health("ha-2")?.trouble == nil)
    }
}
