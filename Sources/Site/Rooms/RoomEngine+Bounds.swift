extension RoomEngine {
    /// Limits. A test of what a full table does has lower ones, and a benchmark higher ones.
    package struct Bounds: Hashable, Sendable {
        package var gateways = RoomEngine.mostGateways
        package var rooms = RoomEngine.mostRooms
        package var tags = RoomEngine.mostTags
        package init() {}
    }
}
