import SiteProtocol

/// The indices of rooms by their ids, and by the keys of their names.
struct RoomIndices: Sendable {
    private var ids: [String: RoomIndex] = [:]
    private var keys: [String: RoomIndex] = [:]

    /// The room with this id.
    subscript(id id: String) -> RoomIndex? { ids[id] }

    /// The room with a form of this name, or with its id: rooms with very long names may have the same id.
    subscript(name: RoomName) -> RoomIndex? { keys[name.key] ?? ids[name.id] }

    /// The room whose id is this text, or else with this name. `RoomName.id(of:)` may change an id that was cut.
    subscript(idOrName name: RoomName) -> RoomIndex? { ids[name.name] ?? self[name] }

    mutating func set(_ room: RoomIndex, _ name: RoomName) { (ids[name.id], keys[name.key]) = (room, room) }

    mutating func remove(_ name: RoomName) { (ids[name.id], keys[name.key]) = (nil, nil) }
}
