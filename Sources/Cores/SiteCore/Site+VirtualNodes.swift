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
    static let interval: Duration = .seconds(5)
    /// Largest number of tags that are published: 40 messages in a second.
    package static let mostTags = 200
    /// For how long a node counts that publishes what it hears.
    private static let rivalLife: Duration = .seconds(60)
    private static let mostRivals = 250

    /// When the messages are due; nil without a connection, and while another service is active.
    var due: MonotonicInstant?
    /// When nodes in rooms of gateways were last heard, by their names.
    private var rivals: [String: MonotonicInstant] = [:]

    /// Records a node that publishes what it hears, in the place of a gateway that sends readings. So it is that gateway, or a
    /// node beside it.
    ///
    /// - Returns: Whether it is a new one.
    mutating func record(rival node: String, at now: MonotonicInstant) -> Bool {
        let isNew = rivals[node].map { $0.duration(to: now) > Self.rivalLife } ?? true
        if rivals[node] == nil, rivals.count >= Self.mostRivals { rivals = [:] }
        rivals[node] = now
        return isNew
    }

    /// Nodes whose messages are mixed with the decisions at whoever reads both, sorted.
    package func rivals(at now: MonotonicInstant) -> [String] {
        rivals.filter { $0.value.duration(to: now) <= Self.rivalLife }.keys.sorted()
    }
}

extension Site {
    /// Publishes where a tag is and is not any more, right after a decision.
    func moveVirtualNode(ofTag position: Int, from old: RoomName?, _ effects: inout [Effect]) {
        // First the room that was left: a program that shows the nearest node then takes the other at once.
        if let old, old.id != roster.states[position].room?.id {
            sendVirtualNode(ofTag: position, in: old, isNear: false, &effects)
        }
        if let room = roster.states[position].room {
            sendVirtualNode(ofTag: position, in: room, isNear: true, &effects)
        }
    }

    mutating func repeatVirtualNodes(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard isActive, retained.connected != nil else {
            virtualNodes?.due = nil
            return
        }
        virtualNodes?.due = now.advanced(by: VirtualNodes.interval)
        for (position, state) in roster.states.prefix(VirtualNodes.mostTags).enumerated() {
            if let room = state.room { sendVirtualNode(ofTag: position, in: room, isNear: true, &effects) }
        }
    }

    /// A tag of several beacons has no name that a node could give it.
    private func sendVirtualNode(
        ofTag position: Int, in room: RoomName, isNear: Bool, _ effects: inout [Effect]
    ) {
        let tag = roster.tags[position]
        guard virtualNodes != nil, position < VirtualNodes.mostTags, retained.connected != nil,
            let major = tag.pattern.major, let minor = tag.pattern.minor
        else { return }
        let beacon = BeaconID(uuid: tag.pattern.uuid, major: major, minor: minor)
        effects.append(.send(.virtualNode(VirtualNode(beacon, tag: tag.name, room: room.name, isNear: isNear))))
    }

    /// A node publishes what it hears in the place of a gateway.
    mutating func recordRival(_ node: String, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard virtualNodes?.record(rival: node, at: now) == true else { return }
        let advice = rivalAdvice([node])
        effects += [.log(.error, "\(advice.text); \(advice.cure)", once: "rival node"), .pageChanged]
    }

    /// What is wrong with nodes that publish what they hear, and what to do about it.
    package func rivalAdvice(_ nodes: [String]) -> (text: String, cure: String) {
        let names = nodes.prefix(5).map { "'\(shortened($0))'" }.joined(separator: ", ")
        return (
            "rooms.publishAsEspresense is on here, and what \(names) hears is published in the same form: programs that "
                + "read it keep switching between the two",
            "remove rooms.espresense from the configuration of the gateway in this room, or rooms.publishAsEspresense here"
        )
    }
}
