/// Home Assistant's `mqtt_room`: a message counts if it is of the same room, or closer than the last one that counted, or
/// if that one is older than 5 s.
package struct MQTTRoom: PeerRule {
    private let rooms: [Int]
    private var last: (level: Double, time: Double)?
    package private(set) var room: Int?

    private static let timeout = 5.0

    package init(rooms: [Int]) { self.rooms = rooms }

    package mutating func hear(_ level: Double, gateway: Int, at time: Double) {
        if let last, room != rooms[gateway], level <= last.level, time - last.time < Self.timeout { return }
        last = (level, time)
        room = rooms[gateway]
    }
}
