/// The topics of one site.
package struct SiteAddresses: Hashable, Sendable {
    package let site: String
    /// The user level of the tags' topics.
    package let user: String

    /// - Parameter user: The user level; nil for `rooms-<site>`.
    package init(site: String, user: String?) { (self.site, self.user) = (site, user ?? "rooms-\(site)") }

    /// The topic of a tag as an OwnTracks device, under which its history is kept.
    package func topic(ofTag id: String) -> String { "owntracks/\(user)/\(id)" }

    /// The topic of the service as an OwnTracks device.
    package var base: String { "owntracks/\(user)/rooms-\(site)" }
}
