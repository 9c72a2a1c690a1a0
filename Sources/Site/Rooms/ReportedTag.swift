package import SiteProtocol

/// What was reported about a tag before the service ended.
package struct ReportedTag: Hashable, Sendable {
    package var id: String
    package var isHome: Bool
    /// nil if the room was not known.
    package var room: RoomName?
    /// For how long the tag was heard in that room before the service ended; zero if that is not known.
    package var stay: Duration

    package init(id: String, isHome: Bool, room: RoomName?, stay: Duration = .zero) {
        (self.id, self.isHome, self.room, self.stay) = (id, isHome, room, stay)
    }
}
