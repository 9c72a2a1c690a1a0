/// Home Assistant's `mqtt_room`: a message counts if it is of the same room, or closer than the last one that counted, or
/// if that one is older than 5 s.
struct MQTTRoom: PeerRule {
    private let rooms: [Int]
    private var last: (level: Double, time: Double)?
    private(set) var room: Int?

    private static let timeout = 5.0

    init(_ home: Home) { rooms = home.gateways.map(\.room) }

    mutating func hear(_ level: Double, gateway: Int, at time: Double) {
        if let last, room != rooms[gateway], level <= last.level, time - last.time < Self.timeout { return }
        last = (level, time)
        room = rooms[gateway]
    }
}
