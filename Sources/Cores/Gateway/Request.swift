package import OwnTracks
package import Regions

/// A request of the status page or Home Assistant. Indices of trackers are valid.
package enum Request: Sendable {
    case changeRegions(tracker: Int, [RegionChange])
    case reportLocation(tracker: Int, pointOfInterest: String? = nil)
    case setMonitoring(tracker: Int, MonitoringMode)

    var tracker: Int {
        switch self {
        case .changeRegions(let tracker, _), .reportLocation(let tracker, _), .setMonitoring(let tracker, _): tracker
        }
    }
}
