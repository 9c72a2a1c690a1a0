import Base
import Beacon
import SiteProtocol
import Testing

@testable import RoomsApp

/// The list of beacons that are no tags: who hears each best, and for how long it is kept.
@Suite struct NearbyBeaconsTests {
    private func instant(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }
    private func beacon(_ minor: UInt16) -> BeaconID {
        BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: minor)
    }
    private func reading(_ minor: UInt16, _ level: Float?, region: String? = nil) -> NearbyReading {
        NearbyReading(beacon: beacon(minor), level: level, region: region)
    }

    private func searching() -> NearbyBeacons {
        var nearby = NearbyBeacons()
        nearby.begin(at: instant(100))
        return nearby
    }

    @Test func `Without a request nothing is remembered`() {
        var nearby = NearbyBeacons()
        nearby.record([reading(1, -50)], of: "hall", at: instant(100))
        #expect(nearby.report(at: instant(100)) == nil)
        nearby.begin(at: instant(101))
        #expect(nearby.report(at: instant(101))?.beacons.isEmpty == true)
    }

    @Test func `What the gateways send themselves is not listed`() {
        var nearby = searching()
        let own = SurveyBeacons(uuid: BeaconUUID(high: 3, low: 4), minors: ["kitchen": 1])
        let sent = NearbyReading(beacon: own?.beacon(of: "kitchen") ?? beacon(9), level: -40, region: nil)
        nearby.record([sent, reading(1, -70)], of: "hall", besides: own, at: instant(101))
        #expect(nearby.report(at: instant(102))?.beacons.map(\.beacon) == [beacon(1)])
    }

    @Test func `Each beacon is listed at the gateway that hears it best, the strongest first`() {
        var nearby = searching()
        nearby.record([reading(1, -70), reading(2, -60)], of: "hall", at: instant(101))
        nearby.record([reading(1, -50, region: "Keys")], of: "kitchen", at: instant(101.5))
        let listed = nearby.report(at: instant(102))?.beacons ?? []
        #expect(listed.map(\.beacon) == [beacon(1), beacon(2)])
        #expect(listed.map(\.gateway) == ["kitchen", "hall"])
        #expect(listed.map(\.level) == [-50, -60])
        #expect(listed.first?.first == instant(101) && listed.first?.last == instant(101.5))
        #expect(listed.first?.region == "Keys" && listed.last?.region == nil)
    }

    @Test func `A gateway that heard the beacon ten seconds ago is not the nearest any more`() {
        var nearby = searching()
        nearby.record([reading(1, -50)], of: "kitchen", at: instant(101))
        for second in 102...112 { nearby.record([reading(1, -80)], of: "hall", at: instant(Double(second))) }
        #expect(nearby.report(at: instant(112))?.beacons.map(\.gateway) == ["hall"])
    }

    @Test func `A beacon that is gone leaves the list, which stays for two minutes after the request`() {
        var nearby = searching()
        nearby.record([reading(1, -50)], of: "hall", at: instant(101))
        nearby.record([reading(2, -50)], of: "hall", at: instant(130))
        nearby.record([reading(2, -50)], of: "hall", at: instant(132))
        #expect(nearby.report(at: instant(132))?.beacons.map(\.beacon) == [beacon(2)])
        #expect(nearby.report(at: instant(132))?.left == .seconds(28))
        #expect(nearby.report(at: instant(279))?.left == .zero)
        #expect(nearby.report(at: instant(279))?.beacons.count == 1)
        #expect(nearby.report(at: instant(280)) == nil)
        nearby.record([reading(3, -50)], of: "hall", at: instant(170))
        #expect(nearby.report(at: instant(170))?.beacons.map(\.beacon) == [beacon(2)])
    }

    @Test func `A request within another keeps the list, and a later one begins anew`() {
        var nearby = searching()
        nearby.record([reading(1, -50)], of: "hall", at: instant(101))
        nearby.begin(at: instant(120))
        #expect(nearby.report(at: instant(120))?.beacons.count == 1)
        #expect(nearby.report(at: instant(120))?.left == .seconds(60))
        nearby.begin(at: instant(200))
        #expect(nearby.report(at: instant(200))?.beacons.isEmpty == true)
    }

    @Test func `Invented beacons and gateways take bounded memory`() {
        var nearby = searching()
        for round in 0..<100 {
            let readings = (0..<20).map { reading(UInt16(round * 20 + $0), -50) }
            nearby.record(readings, of: "g\(round)", at: instant(101))
        }
        #expect(nearby.report(at: instant(102))?.beacons.count == NearbyBeacons.mostListed)
        for gateway in 0..<100 { nearby.record([reading(0, -40)], of: "x\(gateway)", at: instant(102)) }
        #expect(nearby.report(at: instant(102))?.beacons.first?.gateway == "x0")
    }
}
