package import Base
package import OwnTracks
package import Regions
package import SiteProtocol

extension Site {
    /// Everything that can happen to the service of a site. `Site.handle` handles it.
    package enum Input: Sendable {
        /// The store is open. This is the first input.
        indirect case start(StoredSite)
        /// Time passed; a deadline may be due.
        case tick
        /// The wall clock was set or changed.
        case wallClock(WallClock)
        /// `isRetained`: the broker had retained the message, so it may be old.
        case message(SiteMessage, isRetained: Bool)
        /// A message that cannot be read.
        case malformed(FeedError)
        /// A message on this topic cannot be decrypted, for this reason.
        case sealed(RoomTopic, reason: String, isRetained: Bool)
        /// Sets the gateways whose messages cannot be decrypted.
        case strangers(Set<String>)
        /// A message arrived on the service's `/cmd`.
        case command(ReceivedCommand)
        /// A message arrived on the service's `/cmd` that cannot be decrypted, or should have been encrypted.
        case sealedCommand(CommandRefusal.Reason, reason: String)
        /// The command line edited tags. Edits that were handled before may be repeated.
        case edits([Edit])
        /// The page requests this. `refusal(of:)` must have returned nil.
        case request(Request)
        /// The configuration was read again.
        indirect case settings(SiteSettings)
        case brokerConnected
        /// The service is about to leave the broker: it ends, or connects to another broker instead.
        case leavesBroker
        case brokerDisconnected
        /// Home Assistant has announced its start.
        case homeAssistantStarted
        /// The broker retains the description of an entity of this site.
        case entity(Publication, isRetained: Bool)
        /// What comes next was recorded at another time.
        case discontinuity
        /// The store has opened another file, in which any value may be missing.
        case stateLost
        /// The store gave up a write.
        case writeLost
        /// State may be stored now, although nothing was decided.
        case checkpoint
        /// The machine was suspended for this long, up to now.
        case absent(Duration)
        /// The service is about to end.
        case stopping
    }

    /// An edit by the command line.
    package struct Edit: Sendable {
        package enum Change: Sendable {
            /// nil if the edit belongs to another tracker.
            case tags(RegionChange?)
            /// Deletes the history of this topic.
            case eraseHistory(topic: String)
        }

        /// Grows with each edit.
        package let id: Int64
        package let change: Change

        package init(id: Int64, _ change: Change) { (self.id, self.change) = (id, change) }
    }

    /// A request of the page.
    package enum Request: Hashable, Sendable {
        /// `beacon` is `UUID:major:minor`.
        case addTag(name: String, beacon: String)
        case renameTag(id: String, to: String)
        case removeTag(id: String)
        /// Takes the site's list of tags, although this service has no stored list to compare it with.
        case adoptTags
        /// Begins or ends a training run, or deletes the learned data of a room, at all services of the site.
        case learn(FeedDecoder.LearnRequest)
        /// Asks the gateways for this time which beacons they hear that are not tags.
        case search(Duration)
    }
}
