import Base
import Beacon
import Testing

@testable import Gateway

/// When a battery is low, and what is stored of it.
@Suite struct BatteriesTests {
    private static let clock = WallClock(epochOffset: GatewayHarness.epoch * 1_000_000_000, isKnown: true)

    private static func telemetry(_ level: UInt8, isCertain: Bool = true) throws -> BeaconTelemetry {
        let uuid = try #require(BeaconUUID(GatewayHarness.uuid))
        let battery = try #require(BatteryReading(level: level, millivolts: nil))
        return BeaconTelemetry(
            beacon: BeaconID(uuid: uuid, major: 1, minor: 7), battery: battery, temperature: nil, isCertain: isCertain)
    }

    @Test func `A battery is low from 10 per cent down, and until 20`() throws {
        var batteries = Batteries()
        var priorities: [LogPriority] = []
        for level: UInt8 in [100, 11, 10, 15, 5, 19, 20, 19] {
            let effects = batteries.record(try Self.telemetry(level), names: ["Keys"], at: .zero)
            priorities += effects.compactMap(\.logEntry?.priority)
        }
        #expect(priorities == [.warning, .notice])
        #expect(batteries.low.isEmpty)
    }

    @Test func `The low batteries are stored when they have changed, and come back`() throws {
        var batteries = Batteries()
        #expect(batteries.store(by: Self.clock).isEmpty)
        _ = batteries.record(try Self.telemetry(4), names: ["Keys"], at: .zero)
        let stored = batteries.store(by: Self.clock)
        guard case .value(let key, let bytes) = stored.first else {
            Issue.record("no value")
            return
        }
        #expect(key == Gateway.lowBatteriesKey)
        #expect(batteries.store(by: Self.clock).isEmpty)
        var next = Batteries()
        next.restore(bytes, by: Self.clock, at: .zero)
        #expect(next.low.map(\.state.battery.level) == [4])
        #expect(next.store(by: Self.clock).isEmpty)
    }
}
