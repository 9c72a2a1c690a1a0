package import SiteProtocol

/// A room as the engine knows it.
package struct Room: Sendable {
    package internal(set) var name: RoomName
    /// What was learned from people, and from the engine's own decisions.
    package internal(set) var labelled = RoomFingerprints()
    package internal(set) var own = RoomLevels()
    /// Gateways that stand in it.
    package internal(set) var gateways: [Int] = []
    /// Where tags came from and went to.
    var exits = RoomExits()
}
