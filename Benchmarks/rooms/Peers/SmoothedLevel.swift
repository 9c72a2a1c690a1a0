/// A smoothed level per gateway; another gateway wins when it is louder by a margin.
struct SmoothedLevel: PeerRule {
    private let rooms: [Int]
    private let alpha: Double
    private let margin: Double
    private var levels: [(level: Double, time: Double)?]
    private var gateway: Int?

    /// A gateway that has not heard the tag for this long is no longer heeded, seconds.
    private static let stale = 30.0

    init(_ home: Home, alpha: Double, margin: Double) {
        rooms = home.gateways.map(\.room)
        levels = rooms.map { _ in nil }
        (self.alpha, self.margin) = (alpha, margin)
    }

    var room: Int? { gateway.map { rooms[$0] } }

    mutating func hear(_ level: Double, gateway: Int, at time: Double) {
        let smooth = levels[gateway].map { $0.level + alpha * (level - $0.level) } ?? level
        levels[gateway] = (smooth, time)
        guard let current = self.gateway, let held = levels[current], time - held.time <= Self.stale else {
            self.gateway = gateway
            return
        }
        if smooth > held.level + margin { self.gateway = gateway }
    }
}
