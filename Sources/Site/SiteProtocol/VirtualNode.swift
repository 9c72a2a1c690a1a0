import Base
package import Beacon
import JSON

/// A message about a tag as an ESPresense node in a room publishes it, for programs that read such nodes. It does not say what a radio
/// heard, but what the rooms service decided: the tag is near the node of its room, and far from the node of the room that
/// it has left.
///
/// The member `virtual` tells it from the message of a node, so that no rooms service takes a decision for a reading. The topic is
/// `espresense/devices/iBeacon:<uuid>-<major>-<minor>/<node>`.
package struct VirtualNode: Hashable, Sendable {
    package var beacon: BeaconID
    /// The name of the tag.
    package var tag: String
    /// The name of the room. The node has the name under which a gateway in this room publishes with `rooms.espresense`.
    package var room: String
    /// Whether the tag is in the room; otherwise it has just left it.
    package var isNear: Bool

    package init(_ beacon: BeaconID, tag: String, room: String, isNear: Bool) {
        (self.beacon, self.tag, self.room, self.isNear) = (beacon, tag, room, isNear)
    }

    package var topic: RoomTopic { .espresense(beacon, node: TopicIdentifier.identifier(of: room)) }

    /// Half a metre, or a hundred: the largest distance of a node. The level is that of this distance by ESPresense's rule for a
    /// beacon of -59 dBm, because some programs compute the distance again.
    package var payload: [UInt8] {
        JSONValue.object([
            "id": .string("iBeacon:\("\(beacon.uuid)".lowercased())-\(beacon.major)-\(beacon.minor)"),
            "name": .string(tag), "rssi@1m": -59, "rssi": isNear ? -51 : -113,
            "distance": .number(isNear ? 0.5 : 100), "virtual": true,
        ]).bytes
    }
}
