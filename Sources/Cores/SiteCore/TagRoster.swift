import Base
import Beacon
import Regions
import Rooms
package import SiteProtocol

/// The tags of a site, with their published states.
package struct TagRoster: Sendable {
    /// The floors of the rooms.
    package var floors = SiteFloors([:])
    /// The tags in force.
    package private(set) var tags: [TagIdentity] = []
    /// The published state of each tag.
    package private(set) var states: [PublishedTag] = []
    /// When `lowBattery` of each tag last changed by a reading; nil: not in this run.
    private var batteryChanges: [MonotonicInstant?] = []
    /// Indices of the tags in each room by the room's id, in order of arrival.
    private var occupants: [String: [Int]] = [:]

    /// The shortest time between two changes of a tag's `lowBattery`. Each is published and stored, and a sender that imitates the tag
    /// could cause one with each reading. Nothing is lost: later readings say the same.
    static let batteryPause = Duration.seconds(60)

    /// Replaces the tags. A tag that stays keeps its state.
    mutating func replace(by tags: [TagIdentity]) {
        let old = Dictionary(self.tags.indices.map { (self.tags[$0].id, $0) }) { first, _ in first }
        let before = self
        self.tags = tags
        states = []
        states.reserveCapacity(tags.count)
        batteryChanges = Array(repeating: nil, count: tags.count)
        occupants = [:]
        for (index, tag) in tags.enumerated() {
            states.append(PublishedTag(name: tag.name))
            guard let former = old[tag.id] else { continue }
            adopt(before.states[former], ofTag: index)
            batteryChanges[index] = before.batteryChanges[former]
            // Another beacon has another battery.
            if before.tags[former].pattern != tag.pattern { states[index].lowBattery = nil }
        }
    }

    /// Takes over a state of a tag.
    mutating func adopt(_ state: PublishedTag, ofTag index: Int) {
        if let old = states[index].room {
            occupants[old.id]?.removeAll { $0 == index }
            // Another service may name any number of rooms.
            if occupants[old.id]?.isEmpty == true { occupants[old.id] = nil }
        }
        if let new = state.room { occupants[new.id, default: []].append(index) }
        states[index] = state
        states[index].name = tags[index].name
    }

    /// Takes over what a tag said of its battery. Only a low one is told, when it becomes lower, and when it is no longer low: levels that
    /// go up and down between two readings are no news.
    ///
    /// - Returns: Whether a state changed that is published. Before the first decision about the tag there is none.
    mutating func record(
        battery percent: UInt8, ofTag index: Int, at now: MonotonicInstant, _ effects: inout [Site.Effect]
    ) -> Bool {
        guard tags.indices.contains(index) else { return false }
        let (name, before) = (tags[index].name, states[index].lowBattery)
        let isLow = BatteryReading.isLow(percent, wasLow: before != nil)
        let level = isLow ? min(percent, before ?? percent) : nil
        guard level != before else { return false }
        if let last = batteryChanges[index], last.duration(to: now) < Self.batteryPause { return false }
        batteryChanges[index] = now
        states[index].lowBattery = level
        if !isLow {
            effects.append(.log(.notice, "the battery of \(name) is no longer low: \(percent) %"))
        } else if before == nil {
            effects.append(.log(.warning, "the battery of \(name) is low: \(percent) %; replace it"))
        }
        return states[index].since != 0
    }

    /// Adopts other spellings of the rooms' names.
    ///
    /// - Returns: Whether the state of a tag changed.
    mutating func rename(to rooms: [RoomName]) -> Bool {
        let rooms = Dictionary(rooms.map { ($0.id, $0) }) { first, _ in first }
        var isChanged = false
        for index in states.indices {
            for room in [\PublishedTag.room, \.lastRoom] {
                guard let old = states[index][keyPath: room], let new = rooms[old.id], new != old else { continue }
                states[index][keyPath: room] = new
                isChanged = true
            }
        }
        return isChanged
    }

    package func index(ofTag id: String) -> Int? { tags.firstIndex { $0.id == id } }

    /// The id of the tag with this name, id or beacon; `name` itself if no tag has it.
    func id(named name: String) -> String {
        // The id of one tag may be the name of another one.
        if let tag = tags.first(where: { $0.id == name }) ?? tags.first(where: { $0.name == name }) { return tag.id }
        let lowered = name.lowercased()
        if let tag = tags.first(where: { $0.name.lowercased() == lowered || $0.id.lowercased() == lowered }) {
            return tag.id
        }
        if let beacon = BeaconID(name), let tag = tags.first(where: { $0.pattern.matches(beacon) }) {
            return tag.id
        }
        return name
    }

    /// The state of a room.
    func state(of room: RoomName) -> PublishedRoom {
        let inside = occupants[room.id] ?? []
        return PublishedRoom(
            name: room.name, count: inside.count,
            tags: inside.prefix(PublishedRoom.mostNamed).map { tags[$0].name }, floor: floors.floor(of: room))
    }

    /// The tags for the engine.
    ///
    /// - Parameter heard: When each tag was last heard before the service ended, epoch seconds; a tag that is missing has no known stay.
    func reported(heard: [String: Int64]) -> [ReportedTag] {
        zip(tags, states).map { tag, state in
            let stay = state.since > 0 ? heard[tag.id].map { max(0, $0 - state.since) } : nil
            return ReportedTag(id: tag.id, isHome: state.isHome, room: state.room, stay: .seconds(stay ?? 0))
        }
    }
}
