import Glibc

/// Bermuda: distances that hug their minimum, a retreat of more than 3 m/s is rejected; a challenger wins when it is more
/// than 30 % closer, or more than 15 % if its worst of 5 readings beats the best of the gateway that holds the tag.
package struct Bermuda: PeerRule {
    private struct Advert {
        var latest: (distance: Double, time: Double)?
        /// Of the packets, the newest first.
        var packets: [(distance: Double, time: Double)] = []
        /// Of the ticks, the newest first.
        var ticks: [Double] = []
        var distance: Double?
        var time = -Double.infinity
    }

    private let rooms: [Int]
    private var adverts: [Advert]
    private var holder: Int?

    private static let samples = 20
    private static let stale = 30.0
    private static let oldestWinner = 10.0
    private static let radius = 20.0
    private static let reference = -55.0
    private static let exponent = 3.0
    private static let fastestRetreat = 3.0

    package init(rooms: [Int]) {
        self.rooms = rooms
        adverts = rooms.map { _ in Advert() }
    }

    package var room: Int? { holder.map { rooms[$0] } }

    package mutating func hear(_ level: Double, gateway: Int, at time: Double) {
        adverts[gateway].latest = (pow(10, (Self.reference - level) / (10 * Self.exponent)), time)
    }

    package mutating func tick(at time: Double) {
        for gateway in adverts.indices { update(&adverts[gateway], at: time) }
        for challenger in adverts.indices where wins(challenger, at: time) { holder = challenger }
        if let current = holder, adverts[current].distance == nil { holder = nil }
    }

    private func update(_ advert: inout Advert, at time: Double) {
        guard let latest = advert.latest else {
            if time - advert.time > Self.stale { advert.distance = nil }
            return
        }
        advert.latest = nil
        let retreat = advert.packets.filter { $0.time < latest.time }
            .map { (latest.distance - $0.distance) / (latest.time - $0.time) }.max()
        advert.packets.insert(latest, at: 0)
        advert.packets = Array(advert.packets.prefix(Self.samples))
        advert.time = latest.time
        let taken = retreat ?? 0 > Self.fastestRetreat ? advert.ticks.first ?? latest.distance : latest.distance
        advert.ticks.insert(taken, at: 0)
        advert.ticks = Array(advert.ticks.prefix(Self.samples))
        var least = latest.distance
        var total = 0.0
        for distance in advert.ticks {
            least = min(least, distance)
            total += least
        }
        advert.distance = min(latest.distance, total / Double(advert.ticks.count))
    }

    private func wins(_ challenger: Int, at time: Double) -> Bool {
        let advert = adverts[challenger]
        guard let distance = advert.distance, distance <= Self.radius, time - advert.time <= Self.oldestWinner else {
            return false
        }
        guard let current = holder, let held = adverts[current].distance else { return true }
        guard current != challenger, distance < held else { return false }
        let closer = (held - distance) / ((held + distance) / 2)
        let worst = advert.ticks.prefix(5).max() ?? .infinity
        let best = adverts[current].ticks.prefix(5).min() ?? 0
        return closer > 0.3 || closer > 0.15 && advert.ticks.count >= 5 && worst < best
    }
}
