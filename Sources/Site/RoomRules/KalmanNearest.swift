/// room-assistant: a Kalman filter per gateway without a time term, then the smallest distance, no hysteresis.
package struct KalmanNearest: PeerRule {
    private struct Filter {
        var level: Double
        var covariance: Double
        var time: Double
    }

    private let rooms: [Int]
    private var filters: [Filter?]
    package private(set) var room: Int?

    private static let processNoise = 0.008
    private static let measurementNoise = 4.0
    private static let timeout = 60.0

    package init(rooms: [Int]) {
        self.rooms = rooms
        filters = rooms.map { _ in nil }
    }

    package mutating func hear(_ level: Double, gateway: Int, at time: Double) {
        if var filter = filters[gateway] {
            let covariance = filter.covariance + Self.processNoise
            let gain = covariance / (covariance + Self.measurementNoise)
            filter.level += gain * (level - filter.level)
            filter.covariance = (1 - gain) * covariance
            filter.time = time
            filters[gateway] = filter
        } else {
            filters[gateway] = Filter(level: level, covariance: Self.measurementNoise, time: time)
        }
        var best: (level: Double, gateway: Int)?
        for (other, filter) in filters.enumerated() {
            guard let filter, time - filter.time <= Self.timeout else { continue }
            // With one measured power the smallest distance is the highest level.
            if filter.level > best?.level ?? -.infinity { best = (filter.level, other) }
        }
        room = best.map { rooms[$0.gateway] }
    }
}
