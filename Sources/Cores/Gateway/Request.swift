import Configuration
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

    /// Why the request would change and publish nothing; nil: it is carried out.
    func reasonToRefuse(_ trackers: Trackers, _ messages: Messages) -> String? {
        guard trackers.indices.contains(tracker) else { return "there is no such tracker" }
        switch self {
        case .changeRegions(_, let changes):
            // The merge of many regions is made once more when the request is carried out.
            guard trackers.regionCount + changes.count > Gateway.mostRegions else { return nil }
            let merge = trackers[tracker].merging(changes, total: trackers.regionCount, epoch: messages.epoch)
            return merge.isRefused ? merge.reason : nil
        case .reportLocation:
            let isKnown = trackers[tracker].position(standing: messages.settings.position).isKnown
            return isKnown ? nil : "no location is published: \(TrackerState.placeIsUnknown)"
        case .setMonitoring: return nil
        }
    }
}
