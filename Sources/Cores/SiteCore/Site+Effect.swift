package import Base
package import Regions
package import Rooms
package import SiteProtocol

extension Site {
    /// An action that the core decided. The effects of one input are one decision: the service stores them in one
    /// transaction, and sends what is published after that transaction is on the disk.
    package enum Effect: Sendable {
        /// Send this to the broker, once and in order.
        case publish(SitePublication)
        /// Send this at once if there is a connection. It is made again for each connection, or is useless later.
        case send(SitePublication)
        /// Store this in the history.
        case record(RoomVisit)
        /// Store the tags as regions.
        case regions(RegionSet)
        /// Empty the regions of this topic, which was the service's own.
        case regionsMoved(from: String)
        case store(StoredValue)
        /// The command line's edits up to this one are applied. `topic` is nil for those of the service itself.
        case editsTaken(topic: String?, upTo: Int64)
        /// Delete the history of this topic.
        case eraseHistory(topic: String)
        /// The store hands out the messages that wait for the broker.
        case deliver
        /// There was no place for the card of a gateway that counts now; the broker still has the card.
        case cardMissing
        /// All obsolete states that arrived since the connection was made are removed.
        case obsoleteRemoved
        /// The engine found something that a user should know.
        case found(RoomEngine.Finding)
        /// A message on this topic was refused.
        case refused(FeedError, topic: String)
        /// Write this to the log. Lines with the same `once` are rate-limited.
        case log(LogPriority, String, once: String? = nil)
        /// The content of the page has changed, although nothing was published.
        case pageChanged
    }
}
