import Base
import Beacon
import JSON
import OwnTracks
import Regions
import Testing

@Suite struct Ranging {
    @Test(
        "Distance follows Apple's curve: a metre at the measured power, more as the signal falls",
        arguments: [(-59, -59, 1.01), (-59, -40, 0.02), (-59, -70, 3.46), (-59, -80, 9.5), (-59, -90, 23.4)]
            as [(Int8, Int8, Double)])
    func curve(power: Int8, rssi: Int8, metres: Double) throws {
        let rssi = try #require(RSSI(reported: rssi))
        let estimate = try #require(distance(rssi: rssi, measuredPower: MeasuredPower(dBm: power)))
        #expect(abs(estimate - metres) <= 0.02 * metres + 0.005, "\(estimate)")
    }

    @Test("No distance is made of values that no calibrated beacon has", arguments: [(0, -59), (-59, 0), (5, -59)])
    func noDistance(rssi: Int, power: Int) throws {
        let rssi = try #require(RSSI(reported: Int8(rssi)))
        #expect(distance(rssi: rssi, measuredPower: MeasuredPower(dBm: Int8(power))) == nil)
    }

    @Test(
        "prox is 1 within half a metre, 2 within three, 3 beyond, never 0 (owntracks.md 1.3)",
        arguments: [(0.02, 1), (0.49, 1), (0.5, 2), (3, 2), (3.1, 3), (60, 3)] as [(Double, Int64)])
    func proximity(metres: Double, prox: Int64) {
        #expect(BeaconRanging.Proximity(distance: metres).rawValue == prox)
    }

    @Test("A beacon message has exactly these bytes")
    func payload() throws {
        let beacon = BeaconID(uuid: try #require(BeaconUUID(sampleUUID)), major: 1, minor: 2)
        let ranging = BeaconRanging(
            beacon: beacon, rssi: try #require(RSSI(reported: -70)), distance: 3.49, trackerID: "KI",
            timestamp: 1_700_000_000, regionName: "-Keys")
        let expected =
            #"{"_type":"beacon","acc":3,"desc":"-Keys","major":1,"minor":2,"prox":3,"rssi":-70,"tid":"KI","#
            + #""tst":1700000000,"uuid":"\#(sampleUUID)"}"#
        #expect(ranging.payload.text == expected)
    }

    private func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

    private func beacon(_ minor: UInt16 = 1) -> BeaconID {
        BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: minor)
    }

    @Test("The first estimate is told, then one that differs by over 20 %, and none within the interval")
    func throttle() {
        var throttle = RangingThrottle(interval: .seconds(5))
        let heard: [(Int64, Double, Bool)] = [
            (0, 10, true), (1, 20, false), (5, 10, false), (6, 12, false), (7, 12.1, true), (8, 5, false),
            (12, 9.7, false),
            (13, 9.6, true),
        ]
        for (second, metres, isTold) in heard {
            let admitted = throttle.admits(beacon(), distance: metres, at: at(second))
            #expect(admitted == isTold, "second \(second)")
        }
    }

    @Test("Beacons are throttled each for itself")
    func eachForItself() {
        var throttle = RangingThrottle(interval: .seconds(5))
        let told1 = throttle.admits(beacon(1), distance: 1, at: at(0))
        #expect(told1)
        let told2 = throttle.admits(beacon(2), distance: 1, at: at(0))
        #expect(told2)
    }

    @Test("After a minute of silence a beacon is new again, however near it was heard last")
    func forgetting() {
        var throttle = RangingThrottle(interval: .seconds(5))
        let told3 = throttle.admits(beacon(), distance: 1, at: at(0))
        #expect(told3)
        let told4 = throttle.admits(beacon(), distance: 1, at: at(59))
        #expect(!told4)
        let told5 = throttle.admits(beacon(), distance: 1, at: at(118))
        #expect(!told5)
        let told6 = throttle.admits(beacon(), distance: 1, at: at(178))
        #expect(told6)
    }

    @Test("A flood of made-up beacons is bounded, and room comes again")
    func flood() {
        var throttle = RangingThrottle(interval: .seconds(5))
        var told = 0
        for minor in 0..<UInt16(5000) where throttle.admits(beacon(minor), distance: 1, at: at(0)) { told += 1 }
        #expect(told == RangingThrottle.mostBeacons)
        let told7 = throttle.admits(beacon(9999), distance: 1, at: at(61))
        #expect(told7)
    }
}

@Suite struct CircularRegions {
    @Test(
        "A place is in a circle up to its radius",
        arguments: [
            (52.0, 6.0, true), (52.0, 6.00145, true), (52.0, 6.00147, false), (52.0009, 6.0, false), (-52, 6, false),
        ]
            as [(Double, Double, Bool)])
    func contains(latitude: Double, longitude: Double, isInside: Bool) throws {
        // 0.001 degrees of longitude are 68.5 m at 52° north.
        let circle = try region(["lat": 52, "lon": 6, "rad": 100])
        #expect(circle.contains(Coordinates(latitude: latitude, longitude: longitude)) == isInside)
    }

    @Test("A circle reaches over the date line")
    func dateLine() throws {
        let circle = try region(["lat": 0, "lon": 180, "rad": 100])
        #expect(circle.contains(Coordinates(latitude: 0, longitude: -179.9995)))
    }

    @Test("Beacon regions, places and moving circles hold nothing by their place")
    func otherKinds() throws {
        let here = Coordinates(latitude: 0, longitude: 0)
        #expect(!(try region()).contains(here))
        #expect(!(try region(["desc": "+follow", "rad": 100])).contains(here))
        #expect(!(try region(["desc": .string("K:\(sampleUUID)")])).contains(here))
    }
}
