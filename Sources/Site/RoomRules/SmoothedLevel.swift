/// A smoothed level per gateway; another gateway wins when it is louder by a margin.
package struct SmoothedLevel: PeerRule {
    private let rooms: [Int]
    private let alpha: Double
    private let margin: Double
    private var levels: [(level: Double, time: Double)?]
    private var gateway: Int?

    /// A gateway that has not heard the tag for this long is no longer heeded, seconds.
    private static let stale = 30.0

    package init(rooms: [Int], alpha: Double, margin: Double) {
        self.rooms = rooms
        levels = rooms.map { _ in nil }
        (self.alpha, self.margin) = (alpha, margin)
    }

    package var room: Int? { gateway.map { rooms[$0] } }

    package mutating func hear(_ level: Double, gateway: Int, at time: Double) {
        let smooth = levels[gateway].map { $0.level + alpha * (level - $0.level) } ?? level
        levels[gateway] = (smooth, time)
        guard let current = self.gateway, let held = levels[current], time - held.time <= Self.stale else {
            self.gateway = gateway
            return
        }
        if smooth > held.level + margin { self.gateway = gateway }
    }
}
