package import Base
import Beacon
import JSON
import Regions
import Rooms
import SiteProtocol

/// When decisions are published as ESPresense nodes, and which other nodes stand in the way.
package struct VirtualNodes: Sendable {
    /// Time between two messages about a tag that stays. `mqtt_room` and ESPresense-companion forget what is not repeated; a node
    /// repeats as often.
    private static let interval: Duration = .seconds(5)
    /// Largest number of tags that are published: 40 messages in a second.
    package static let mostTags = 200
    /// For how long a node counts that publishes what it hears.
    private static let rivalLife: Duration = .seconds(60)
    private static let mostRivals = 250

    /// Whether decisions are published as ESPresense nodes.
    private let isOn: Bool
    /// When the messages are due; nil without a connection, and while another service is active.
    private(set) var due: MonotonicInstant?
    /// When nodes in rooms of gateways were last heard, by their names.
    private var rivals: [String: MonotonicInstant] = [:]

    init(isOn: Bool) { self.isOn = isOn }

    /// This service publishes decisions from now on.
    mutating func begin(at now: MonotonicInstant) { if isOn { due = now } }

    // MARK: - Tags

    /// Publishes where a tag is and where it no longer is, right after a decision.
    func send(_ move: TagStates.Move, isConnected: Bool, _ effects: inout [Site.Effect]) {
        guard isConnected else { return }
        // First the room that was left: a program that shows the nearest node then takes the other at once.
        if let left = move.left, left.id != move.to?.id {
            send(move.tag, at: move.index, in: left, isNear: false, &effects)
        }
        if let room = move.to { send(move.tag, at: move.index, in: room, isNear: true, &effects) }
    }

    /// Repeats where each tag is, if that is due.
    ///
    /// - Parameter isHeard: Whether this service is active and has a connection; else nothing is due any more.
    mutating func sendAll(_ roster: TagRoster, isHeard: Bool, at now: MonotonicInstant, _ effects: inout [Site.Effect])
    {
        guard let due, due <= now else { return }
        self.due = isHeard ? now.advanced(by: Self.interval) : nil
        guard isHeard else { return }
        for (index, state) in roster.states.prefix(Self.mostTags).enumerated() {
            if let room = state.room { send(roster.tags[index], at: index, in: room, isNear: true, &effects) }
        }
    }

    /// A tag of several beacons has no name that a node could give it.
    private func send(
        _ tag: TagIdentity, at index: Int, in room: RoomName, isNear: Bool, _ effects: inout [Site.Effect]
    ) {
        guard isOn, index < Self.mostTags, let major = tag.pattern.major, let minor = tag.pattern.minor else {
            return
        }
        let beacon = BeaconID(uuid: tag.pattern.uuid, major: major, minor: minor)
        effects.append(.send(.virtualNode(VirtualNode(beacon, tag: tag.name, room: room.name, isNear: isNear))))
    }

    // MARK: - Rivals

    /// Records a node that publishes what it hears, in the place of a gateway that sends readings. So it is that gateway, or a
    /// node beside it.
    mutating func record(rival node: String, at now: MonotonicInstant, _ effects: inout [Site.Effect]) {
        guard isOn else { return }
        let isNew = rivals[node].map { $0.duration(to: now) > Self.rivalLife } ?? true
        if rivals[node] == nil, rivals.count >= Self.mostRivals { rivals = [:] }
        rivals[node] = now
        guard isNew else { return }
        let advice = Self.advice([node])
        effects += [.log(.error, "\(advice.text); \(advice.remedy)", once: "rival node"), .pageChanged]
    }

    /// What is wrong with nodes that publish what they hear, and what to do about it; nil: there are none.
    package func advice(at now: MonotonicInstant) -> (text: String, remedy: String)? {
        let nodes = rivals.filter { $0.value.duration(to: now) <= Self.rivalLife }.keys.sorted()
        return nodes.isEmpty ? nil : Self.advice(nodes)
    }

    private static func advice(_ nodes: [String]) -> (text: String, remedy: String) {
        let names = nodes.prefix(5).map { "'\(shortened($0))'" }.joined(separator: ", ")
        return (
            "rooms.publishAsEspresense is on here, and what \(names) hears is published in the same form: programs that "
                + "read it keep switching between the two",
            "remove rooms.espresense from the configuration of the gateway in this room, or rooms.publishAsEspresense here"
        )
    }
}
