package import Base
package import OwnTracks
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
        /// A message on this topic cannot be read.
        case malformed(FeedError, topic: String)
        /// A message on this topic cannot be decrypted, for this reason.
        case sealed(RoomTopic, reason: String, isRetained: Bool)
        /// Sets the gateways whose messages cannot be decrypted.
        case strangers(Set<String>)
        /// A message arrived on the service's `/cmd`.
        case command(ReceivedCommand)
        /// A message arrived on the service's `/cmd` that cannot be decrypted, or should have been encrypted.
        case sealedCommand(CommandRefusal.Reason, reason: String)
        /// The command line edited tags. Edits that were handled before may be repeated.
        case edits([SiteEdit])
        /// The page requests this. `refusal(of:)` must have returned nil.
        case request(SiteRequest)
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
}
