import Glibc
import Rooms
import RoomsSupport
import SiteProtocol

/// What gateways that hear each other could at best know of a random home: an oracle, which reads it from the home.
struct Survey {
    var name = "nothing"
    /// How much more each receiver measures than others.
    var knowsGains = false
    /// The same as far as gateways can measure it that hear each other for a day, in the levels alone.
    var measuresGains = false
    /// What gateways hear of each other for a day, as what is known of each room.
    var measuresLevels = false
    /// Which rooms have a door or stairs in common.
    var knowsNeighbours = false
    /// What the receivers of other rooms hear of a transmitter at each receiver.
    var knowsPathLoss = false
    /// The mean and the deviation of the level at each receiver over the places of each room: more than any survey can know.
    var knowsRooms = false

    /// Whether it is played after a walk and after the week, too.
    var isPlayedTrained: Bool {
        measuresGains || measuresLevels || !knowsRooms && (knowsNeighbours || !knowsGains && !knowsPathLoss)
    }

    /// The number of measured gains alone in `measured`.
    static let measuredGains = 1
    /// What gateways find out themselves.
    static let measured: [Survey] = [
        Survey(),
        Survey(name: "measured gains", measuresGains: true),
        Survey(name: "measured levels", measuresLevels: true),
        Survey(name: "measured both", measuresGains: true, measuresLevels: true),
    ]

    static let all: [Survey] = [
        Survey(),
        Survey(name: "gains", knowsGains: true),
        Survey(name: "measured gains", measuresGains: true),
        Survey(name: "neighbours", knowsNeighbours: true),
        Survey(name: "path loss", knowsPathLoss: true),
        Survey(name: "all three", knowsGains: true, knowsNeighbours: true, knowsPathLoss: true),
        Survey(name: "levels in rooms", knowsRooms: true),
        Survey(name: "levels, neighbours", knowsNeighbours: true, knowsRooms: true),
    ]

    /// Each door counts as so many moves that were seen.
    private static let movesOfDoor: Float = 20
    /// The levels count as those of so many seconds.
    private static let seconds: Float = 600
    /// What a body takes of a level on average, and by how much that and the packets differ, dB.
    private static let body = 4.0
    private static let deviation = 6.0

    /// A session as it would be if all receivers measured alike.
    func correct(_ session: Session, _ radio: HomeRadio) -> Session {
        guard knowsGains else { return session }
        var session = session
        for moment in session.moments.indices {
            for (index, receiver) in radio.receivers.enumerated() {
                if let level = session.moments[moment].levels[index] {
                    session.moments[moment].levels[index] = level - receiver.gain
                }
            }
        }
        return session
    }

    /// What the engine is told; nil: nothing.
    func known(of random: RandomHome) -> LearnedSite? {
        guard knowsNeighbours || knowsPathLoss || knowsRooms else { return nil }
        var site = LearnedSite()
        site.gateways = random.home.gateways.map { LearnedSite.Gateway(name: $0.name, room: $0.room) }
        site.rooms = random.home.rooms.indices.map { room in
            LearnedSite.LearnedRoom(
                name: .named(random.home.rooms[room]), labelled: [],
                own: knowsPathLoss || knowsRooms ? levels(in: room, random) : LearnedSite.Levels(),
                exits: knowsNeighbours ? exits(of: room, random.plan) : [])
        }
        return site
    }

    private func exits(of room: Int, _ plan: FloorPlan) -> [LearnedSite.LearnedRoom.Exit] {
        let others = plan.doors.filter { $0.from == room || $0.to == room }.map { $0.from == room ? $0.to : $0.from }
        return Set(others).sorted().map { LearnedSite.LearnedRoom.Exit(room: $0, count: Self.movesOfDoor) }
    }

    private func levels(in room: Int, _ home: RandomHome) -> LearnedSite.Levels {
        let places =
            knowsRooms ? somePlaces(in: room, home.plan) : home.radio.receivers.filter { $0.room == room }.map(\.at)
        let levels = places.map { home.radio.levels(at: $0, in: room) }
        let cells = home.radio.receivers.indices.map { receiver in
            var heard = levels.map { $0[receiver] }
            if !knowsRooms, home.radio.receivers[receiver].room == room { heard = [ownLevel(of: receiver, home.radio)] }
            let shifted = heard.map { $0 - Self.body - (knowsGains ? home.radio.receivers[receiver].gain : 0) }
            return Self.cell(receiver, shifted, lost: home.radio.receivers[receiver].lost)
        }
        return LearnedSite.Levels(seconds: Self.seconds, cells: cells.filter { $0.heard > 0 })
    }

    /// Of a tag in the own room: no survey measures it, so that it follows from the law of path loss for two metres.
    private func ownLevel(of receiver: Int, _ radio: HomeRadio) -> Double {
        radio.reference + radio.receivers[receiver].gain - 10 * radio.exponent * log10(2)
    }

    private func somePlaces(in room: Int, _ plan: FloorPlan) -> [Point] {
        var random = Random(seed: UInt64(room) &+ 1)
        return (0..<100).map { _ in plan.somewhere(in: room, &random) }
    }

    private static func cell(_ receiver: Int, _ levels: [Double], lost: Double) -> LearnedSite.Levels.Cell {
        let weights = levels.map { (1 - lost) / (1 + exp(-($0 + 93) / 1.5)) }
        let sum = weights.reduce(0, +)
        let mean = zip(levels, weights).reduce(0) { $0 + $1.0 * $1.1 } / max(1e-9, sum)
        let spread = zip(levels, weights).reduce(0) { $0 + ($1.0 - mean) * ($1.0 - mean) * $1.1 } / max(1e-9, sum)
        let heard = Float(sum / Double(levels.count)) * seconds
        return LearnedSite.Levels.Cell(
            gateway: receiver, heard: heard < 1 ? 0 : heard, unknown: 0, mean: Float(mean),
            squares: heard * Float(spread + deviation * deviation))
    }
}
