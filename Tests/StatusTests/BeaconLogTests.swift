import Base
import Beacon
import Status
import Testing

@Suite("The log of beacons")
struct BeaconLogTests {
    private func sighting(_ minor: UInt16, _ dBm: Int8) -> Sighting {
        Sighting(
            beacon: BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: minor),
            measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: dBm), receiver: Receiver(index: 0))
    }

    private func at(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }

    @Test("The series keeps the strongest of each step and the gaps between")
    func series() throws {
        var log = BeaconLog()
        log.hear(sighting(1, -70), at: at(1000))
        log.hear(sighting(1, -60), at: at(1005))
        log.hear(sighting(1, -65), at: at(1009))
        log.hear(sighting(1, -80), at: at(1030))
        let state = try #require(log.states(at: at(1031)).first)
        #expect(state.series.suffix(4).map { $0?.dBm } == [-60, nil, nil, -80])
        #expect(state.series.count == BeaconLog.points && state.sightings == 4)
    }

    @Test("A beacon that is silent for five minutes is forgotten")
    func forgets() {
        var log = BeaconLog()
        log.hear(sighting(1, -70), at: at(0))
        #expect(log.states(at: at(300)).count == 1)
        #expect(log.states(at: at(301)).isEmpty)
        log.forget(at: at(301))
        #expect(log.count == 0)
    }

    @Test("The log stays small for any number of beacons")
    func bounded() {
        var log = BeaconLog()
        for minor in 0..<5000 as Range<UInt16> { log.hear(sighting(minor, -70), at: at(Double(minor) / 1000)) }
        #expect(log.count == BeaconLog.capacity)
        let newest = log.states(at: at(5)).map(\.id.minor).sorted()
        #expect(newest == Array(4488...4999), "those heard last stay")
    }

    @Test("Those who are heard again and again stay, whatever crowd passes")
    func residents() {
        var log = BeaconLog()
        var reference: [UInt16] = []
        var generator = SystemRandomNumberGenerator()
        for turn in 0..<20_000 {
            let minor = turn % 3 == 0 ? UInt16.random(in: 0..<100, using: &generator) : UInt16(100 + turn)
            log.hear(sighting(minor, -70), at: at(Double(turn) / 1000))
            reference.removeAll { $0 == minor }
            reference.append(minor)
            if reference.count > BeaconLog.capacity { reference.removeFirst() }
            guard turn % 500 == 499 else { continue }
            #expect(log.states(at: at(Double(turn) / 1000)).map(\.id.minor).sorted() == reference.sorted())
        }
        log.forget(at: at(321))
        #expect(log.count == 0)
        log.hear(sighting(7, -70), at: at(322))
        #expect(log.states(at: at(322)).map(\.sightings) == [1], "a place that was given back begins anew")
    }

    @Test("The usual gap is learned")
    func interval() throws {
        var log = BeaconLog()
        for beat in 0..<100 { log.hear(sighting(1, -70), at: at(Double(beat))) }
        #expect(try #require(log.states(at: at(100)).first?.interval) == .seconds(1))
    }
}
