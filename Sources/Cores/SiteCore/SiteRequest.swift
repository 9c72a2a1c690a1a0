package import SiteProtocol

/// A request of the page.
package enum SiteRequest: Hashable, Sendable {
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

    /// Whether it changes which tags there are, or their names.
    var changesTags: Bool {
        switch self {
        case .addTag, .renameTag, .removeTag, .adoptTags: true
        case .learn, .search: false
        }
    }
}
