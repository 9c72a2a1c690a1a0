import Base
import Beacon
import GatewayEntities
import Status
import StatusPage

/// What the parts need of the service, and of each other through it.
protocol SidePartOwner: AnyObject {
    func snapshot(at now: MonotonicInstant) -> StatusSnapshot
    func perform(_ request: HomeAssistantFeed.Request) -> StatusActionResult
    /// The keys of phones have changed.
    func phonesChanged()
    /// The tags of the site have changed.
    func tagsChanged()
    /// The UUIDs of the phones whose keys this gateway has.
    var phoneUUIDs: Set<BeaconUUID> { get }
}
