package import JSON
package import Regions

/// The visits of tags to rooms, built from their transitions: for the history, and for the time line of the page.
package struct Visits {
    /// A stay of a tag in a room. Times are epoch seconds.
    package struct Visit: Hashable, Sendable {
        package let tag: String
        package let name: String
        package let room: String
        package let roomName: String
        /// nil if the visit began before the shown period.
        package let from: Int64?
        /// nil if the tag is still in the room.
        package fileprivate(set) var to: Int64?
        package fileprivate(set) var isOver = false

        package var json: JSONValue {
            [
                "tag": .string(tag), "name": .string(name), "room": .string(room), "roomName": .string(roomName),
                "from": from.map(JSONValue.integer) ?? .null, "to": to.map(JSONValue.integer) ?? .null,
            ]
        }
    }

    private let names: [String: String]
    package private(set) var list: [Visit] = []
    /// Index in `list` by the tag's id.
    private var open: [String: Int] = [:]

    /// - Parameter names: The names of the tags by their ids.
    package init(names: [String: String]) { self.names = names }

    /// Adds the next transition, in the order of time.
    package mutating func add(_ entry: PastTransition) {
        let tag = Self.tag(of: entry)
        let last = open.removeValue(forKey: tag)
        let isItsEnd = last.map { list[$0].room == entry.rid } ?? false
        if let last {
            list[last].isOver = true
            // A visit without a stored end ends when the next one begins. When it ended is not known if that began elsewhere.
            if entry.event == .enter || isItsEnd { list[last].to = entry.timestamp }
        }
        switch entry.event {
        case .enter:
            open[tag] = list.count
            list.append(visit(tag, entry, from: entry.timestamp))
        case .leave:
            guard !isItsEnd else { return }
            var visit = visit(tag, entry, from: nil)
            (visit.to, visit.isOver) = (entry.timestamp, true)
            list.append(visit)
        }
    }

    /// The id of the tag whose topic the transition has.
    package static func tag(of entry: PastTransition) -> String {
        entry.tracker.split(separator: "/").last.map(String.init) ?? entry.tracker
    }

    private func visit(_ tag: String, _ entry: PastTransition, from: Int64?) -> Visit {
        Visit(tag: tag, name: names[tag] ?? tag, room: entry.rid, roomName: entry.name, from: from)
    }
}
