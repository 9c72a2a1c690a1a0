import Base
import Beacon
import Configuration
import OwnTracks
import Presence
import Regions
import Testing

@testable import Gateway

/// What a part gets as arguments, for tests of one part alone.
struct PartsFixture {
    let settings: Configuration
    let clock = WallClock(epochOffset: GatewayHarness.epoch * 1_000_000_000, isKnown: true)
    /// One tracker with so many beacon regions, `r0` and following.
    var trackers: Trackers

    /// - Parameter json: As of `GatewayHarness`.
    init(regions: Int, _ json: String = "lat: 52, lon: 6") throws {
        settings = try GatewayHarness.configuration(json)
        trackers = Trackers(of: settings)
        var set = RegionSet()
        set.apply(try CrowdTests.regions(regions))
        trackers[0].replaceRegions(by: set)
        trackers[0].endChange()
    }

    /// Adds a circle around the gateway.
    mutating func addCircle(_ rid: String) throws {
        var regions = trackers[0].regions
        let circle = Region(
            rid: rid, description: try RegionDescription(parsing: rid, base: .decimal), timestamp: 1,
            coordinates: settings.position.coordinates, radius: 100)
        regions.apply([.set(circle, isRIDDerived: false)])
        trackers[0].replaceRegions(by: regions)
        trackers[0].endChange()
    }

    func messages(at seconds: Int) -> Messages {
        Messages(settings: settings, clock: clock, now: Self.at(seconds))
    }

    static func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant.zero.advanced(by: .seconds(seconds)) }

    /// Any beacon enters or leaves the region `r` with this number.
    func transition(_ number: Int, isEnter: Bool = true, at seconds: Int = 1) throws -> PendingTransition {
        let region = try #require(trackers[0].regions[rid: "r\(number)"])
        let uuid = try #require(BeaconUUID(GatewayHarness.uuid))
        return PendingTransition(
            key: RegionKey(tracker: 0, rid: region.rid), isEnter: isEnter, region: region,
            beacon: BeaconID(uuid: uuid, major: 1, minor: UInt16(number + 1)), rssi: nil, instant: Self.at(seconds),
            leaveReason: isEnter ? nil : .silence)
    }
}
