extension RoomEngine {
    /// Limits, which only the benchmark exceeds.
    package struct Bounds: Sendable {
        package var gateways = RoomEngine.mostGateways
        package var rooms = RoomEngine.mostRooms
        package var tags = RoomEngine.mostTags
        package init() {}
    }
}
