import Glibc

/// Bermuda as it is at `cd46d17` (July 2026), for an iBeacon and with its own settings: distances that hug their minimum, a retreat of
/// more than 3 m/s is not believed; a challenger wins when it is at least 30 % closer, or more than 15 % if its worst of the last
/// distances is better than the best of the receiver that holds the tag.
///
/// In Bermuda a beacon is a device beside the one of the address that sends it, and both own the same distances. Each cycle computes
/// the distances of every device, so those of a beacon are computed twice, and its history of 20 lasts ten cycles. What is followed by its
/// fixed address is one device, whose distances are computed once.
package struct Bermuda: PeerRule {
    /// What one receiver knows of the tag (`BermudaAdvert`).
    fileprivate struct Advert {
        /// The last packet since the last cycle.
        var latest: (distance: Double, time: Double)?
        /// Of the packets of the last cycles that had one, the newest first.
        var packets: [(distance: Double, time: Double)] = []
        /// Of the computations, the newest first: a cycle without a packet repeats the last distance.
        var history: [Double] = []
        /// Smoothed, in metres; nil: away.
        var distance: Double?
    }

    private let rooms: [Int]
    private let computationsPerCycle: Int
    private var adverts: [Advert]
    /// The receivers that have heard the tag, in the order in which they first did.
    private var known: [Int] = []
    private var holder: Int?

    fileprivate static let samples = 20
    fileprivate static let packetsKept = 10
    private static let compared = 5
    private static let leastCompared = 4
    fileprivate static let stale = 30.0
    private static let oldestWinner = 10.0
    private static let radius = 20.0
    private static let reference = -55.0
    private static let exponent = 3.0
    fileprivate static let fastestRetreat = 3.0

    /// - Parameters:
    ///   - rooms: The room of each gateway.
    ///   - computationsPerCycle: 2 for a beacon, 1 for what is followed by its fixed address.
    package init(rooms: [Int], computationsPerCycle: Int = 2) {
        (self.rooms, self.computationsPerCycle) = (rooms, computationsPerCycle)
        adverts = rooms.map { _ in Advert() }
    }

    package var room: Int? { holder.map { rooms[$0] } }

    package mutating func hear(_ level: Double, gateway: Int, at time: Double) {
        if adverts[gateway].packets.isEmpty, adverts[gateway].latest == nil { known.append(gateway) }
        adverts[gateway].latest = (pow(10, (Self.reference - level) / (10 * Self.exponent)), time)
    }

    package mutating func tick(at time: Double) {
        for gateway in known {
            var isNew = adverts[gateway].takePacket()
            for _ in 0..<computationsPerCycle {
                adverts[gateway].compute(isNew: isNew, at: time)
                isNew = false
            }
        }
        for challenger in known where wins(challenger, at: time) { holder = challenger }
        if let current = holder, adverts[current].distance == nil { holder = nil }
    }

    private func wins(_ challenger: Int, at time: Double) -> Bool {
        let advert = adverts[challenger]
        guard holder != challenger, let packet = advert.packets.first, time - packet.time <= Self.oldestWinner,
            let distance = advert.distance, distance <= Self.radius
        else { return false }
        guard let holder, let held = adverts[holder].distance else { return true }
        guard distance <= held else { return false }
        if rooms[holder] == rooms[challenger], let last = adverts[holder].packets.first, packet.time - last.time > 1 {
            return true
        }
        let closer = (held - distance) / ((held + distance) / 2)
        if advert.history.count >= Self.leastCompared, closer > 0.15,
            let worst = advert.history.prefix(Self.compared).max(),
            let best = adverts[holder].history.prefix(Self.compared).min(), worst < best
        {
            return true
        }
        return closer >= 0.3
    }
}

extension Bermuda.Advert {
    /// Takes the last packet since the last cycle, and says whether there was one.
    fileprivate mutating func takePacket() -> Bool {
        guard let packet = latest else { return false }
        latest = nil
        packets.insert(packet, at: 0)
        return true
    }

    /// One computation (`calculate_data`).
    fileprivate mutating func compute(isNew: Bool, at time: Double) {
        guard let packet = packets.first else { return }
        if distance == nil, isNew {
            (distance, history) = (packet.distance, [packet.distance])
        } else if !isNew, time - packet.time > Bermuda.stale {
            distance = nil
        } else {
            let isBelieved = retreat <= Bermuda.fastestRetreat
            history.insert(isBelieved ? packet.distance : history.first ?? packet.distance, at: 0)
            history = Array(history.prefix(Bermuda.samples))
            var (least, total) = (packet.distance, 0.0)
            for each in history {
                least = min(least, each)
                total += least
            }
            distance = min(packet.distance, total / Double(history.count))
        }
        packets = Array(packets.prefix(Bermuda.packetsKept))
    }

    /// How fast the tag went away, in metres a second: if it did not come nearer since the packet before, the most since any.
    private var retreat: Double {
        guard packets.count > 1 else { return 0 }
        let speeds = packets.dropFirst().lazy.filter { $0.time < packets[0].time }
            .map { (packets[0].distance - $0.distance) / (packets[0].time - $0.time) }
        guard let last = speeds.first, last >= 0 else { return speeds.first ?? 0 }
        return speeds.max() ?? last
    }
}
