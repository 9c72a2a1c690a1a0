import Base
import PageServer
import SiteCore

/// The interface that the page uses. All calls are made on the loop's thread.
protocol SitePageOwner: AnyObject {
    var site: Site { get }
    var now: MonotonicInstant { get }
    /// The present state, except tags, rooms and gateways.
    var pageFrame: SiteSnapshot { get }
    /// Beacons that are not tags.
    var nearby: NearbyBeacons { get }
    /// Visits of the last 24 hours; none if no history is kept, or the clock is not known.
    var day: [Visits.Visit] { get }
    /// The card of another gateway; nil if this service offers none.
    func offer(for request: PageRequest) -> PageAnswer?
    /// - Returns: Why the request was refused; nil if it is carried out.
    func carryOut(_ request: SiteRequest) -> String?
}
