/// The room of the gateway whose latest packet is the strongest, of packets that are at most 10 s old.
package struct StrongestPacket: PeerRule {
    private let rooms: [Int]
    private var latest: [(level: Double, time: Double)?]
    package private(set) var room: Int?

    package init(rooms: [Int]) {
        self.rooms = rooms
        latest = rooms.map { _ in nil }
    }

    package mutating func hear(_ level: Double, gateway: Int, at time: Double) {
        latest[gateway] = (level, time)
        var best = gateway
        for (other, packet) in latest.enumerated() {
            if let packet, time - packet.time <= 10, packet.level > latest[best]?.level ?? level { best = other }
        }
        room = rooms[best]
    }
}
