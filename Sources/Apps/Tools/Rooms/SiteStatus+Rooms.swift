import Base
import SiteCore
import SiteProtocol
import System

/// The rooms of a site by the names that a person writes.
extension SiteStatus {
    /// The rooms that the service publishes, and those that only the card of a gateway names.
    private var knownRooms: [RoomName] {
        publishedRooms + gateways.compactMap { $0.room.flatMap { RoomName($0) } }
    }

    /// The room that a person means: the one with this id, or with a form of this name; nil if there is none.
    func knownRoom(_ name: RoomName) -> RoomName? {
        publishedRooms.first { $0.id == name.name } ?? knownRooms.first { $0.isSame(as: name) }
    }

    /// The room with this id or a form of this name.
    func room(_ name: String) throws(Failure) -> RoomName {
        if let room = RoomName(name).flatMap(knownRoom) { return room }
        throw noRoom(name)
    }

    /// The room that is to get another name. One that a gateway has left may no longer be published.
    func renamedRoom(_ name: String, to new: RoomName) throws(Failure) -> RoomName {
        let asked = questions.map(\.from)
        let room = RoomName(name).flatMap { name in
            asked.first { $0.isSame(as: name) } ?? knownRoom(name)
        }
        guard let room else { throw noRoom(name, asked.map(\.name)) }
        guard !room.isSame(as: new) else {
            throw Failure(.usage, "'\(room.name)' and '\(new.name)' are forms of one name")
        }
        guard !questions.contains(where: { $0.from.isSame(as: room) && $0.to.isSame(as: new) }) else { return room }
        let naming = gateways.filter { gateway in gateway.room.flatMap { RoomName($0) }.map(room.isSame) == true }
        guard naming.isEmpty else {
            throw Failure(
                .badData,
                "'\(room.name)' is not renamed: " + RenamingRefusal.named(by: naming.map(\.id)).text)
        }
        return room
    }

    /// Whether a room still has its former name, as far as the broker shows.
    func isRenameOpen(of room: RoomName, to new: RoomName) -> Bool {
        if questions.contains(where: { $0.from.isSame(as: room) && $0.to.isSame(as: new) }) { return true }
        return !publishedRooms.contains { $0.isSame(as: new) }
    }

    private func noRoom(_ name: String, _ more: [String] = []) -> Failure {
        Failure(.badData, textOfNoRoom(name, more))
    }

    /// - Parameter more: Further names that a person may mean.
    func textOfNoRoom(_ name: String, _ more: [String] = []) -> String {
        "site '\(site)' has no room '\(name)'\(hint(for: name, among: knownRooms.map(\.name) + more))"
    }

    /// What a person must say about gateways that name another room than before.
    var questions: [RoomQuestion] {
        var found: [RoomQuestion] = []
        for gateway in gateways {
            guard let from = gateway.formerRoom.flatMap({ RoomName($0) }),
                let to = gateway.room.flatMap({ RoomName($0) })
            else { continue }
            if let index = found.firstIndex(where: { $0.from == from && $0.to == to }) {
                found[index].gateways.append(gateway.id)
            } else {
                found.append(RoomQuestion(from: from, to: to, gateways: [gateway.id]))
            }
        }
        return found
    }
}
