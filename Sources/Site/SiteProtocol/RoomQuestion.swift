/// What a person must say of gateways that name another room than before: was the room renamed, or were they carried there?
package struct RoomQuestion: Hashable, Sendable {
    /// The room that they named before, and the one that they name now.
    package var from: RoomName
    package var to: RoomName
    package var gateways: [String]

    package init(from: RoomName, to: RoomName, gateways: [String]) {
        (self.from, self.to, self.gateways) = (from, to, gateways)
    }
}
