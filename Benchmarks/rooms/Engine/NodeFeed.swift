import Base
import Beacon
import Rooms
import SiteProtocol

/// A session as ESPresense nodes would send it: each node sends the level of the tag (`NodeFilter`) when a report is due (`NodeReports`), if
/// it has heard the tag since its last message. A node sends nothing when it hears nothing.
struct NodeFeed {
    /// Seconds between two messages of a node.
    private let period: Double

    private var random: Random

    /// Whether the nodes hear a second tag, too, which lies still.
    private let hasSecondTag: Bool

    init(seed: UInt64, hasSecondTag: Bool = false, period: Double = 5) {
        random = Random(seed: seed)
        (self.hasSecondTag, self.period) = (hasSecondTag, period)
    }

    struct Message {
        var time: Double
        var gateway: Int
        var second: HeardSecond
    }

    /// The messages of a session in the order of time.
    mutating func messages(of session: Session, in home: Home, _ beacon: BeaconID) -> [Message] {
        var messages = levels(of: session).map { sent in
            Message(
                time: sent.time, gateway: sent.node,
                second: Self.read(sent.level, home.gateways[sent.node].name, beacon))
        }
        if hasSecondTag, let first = session.moments.first, let last = session.moments.last {
            messages += secondTag(from: first.time, to: last.time, in: home)
        }
        return messages.sorted { ($0.time, $0.gateway) < ($1.time, $1.gateway) }
    }

    /// The session as one who reads the nodes' messages knows it.
    mutating func heard(of session: Session) -> Session {
        var heard = Session(name: session.name)
        var next = 0
        for sent in levels(of: session).sorted(by: { ($0.time, $0.node) < ($1.time, $1.node) }) {
            while next + 1 < session.moments.count, session.moments[next + 1].time <= sent.time { next += 1 }
            var moment = session.moments[next]
            moment.time = sent.time
            for node in moment.levels.indices { moment.levels[node] = node == sent.node ? sent.level : nil }
            heard.moments.append(moment)
        }
        heard.seconds = heard.makeSeconds()
        return heard
    }

    /// What each node sends, one node after the other.
    private mutating func levels(of session: Session) -> [(time: Double, node: Int, level: Double)] {
        guard let first = session.moments.first, let last = session.moments.last else { return [] }
        var sent: [(time: Double, node: Int, level: Double)] = []
        // All nodes have the same time.
        let phase = first.time + random.uniform() * period
        for node in first.levels.indices {
            var filter = NodeFilter()
            var reports = NodeReports(period: period, phase: phase)
            var heard = first.time
            func publish(until time: Double) {
                guard let message = reports.due(until: time, heardAt: heard) else { return }
                sent.append((message.time, node, message.level))
            }
            for moment in session.moments {
                publish(until: moment.time)
                guard let measured = moment.levels[node] else { continue }
                filter.add(measured, at: moment.time)
                heard = moment.time
                if let level = filter.level { reports.hear(level) }
                publish(until: moment.time)
            }
            publish(until: last.time + 1)
        }
        return sent
    }

    /// What the nodes send of the second tag, which lies in the room of the first node.
    private mutating func secondTag(from begin: Double, to end: Double, in home: Home) -> [Message] {
        var messages: [Message] = []
        for node in home.gateways.indices {
            var due = begin + random.uniform() * period
            while due <= end {
                let level = (node == 0 ? -55 : -80) + random.normal()
                let second = Self.read(level, home.gateways[node].name, EngineRun.secondBeacon)
                messages.append(Message(time: due, gateway: node, second: second))
                due += period * (0.8 + 0.4 * random.uniform())
            }
        }
        return messages
    }

    /// The message as the node publishes it, and as the rooms service reads it.
    private static func read(_ level: Double, _ node: String, _ beacon: BeaconID) -> HeardSecond {
        let topic = RoomTopic.espresense(beacon, node: node).text
        let payload = #"{"rssi":\#(fixed(level, 2)),"rssi@1m":-59}"#
        guard case .espresense(let read, _)? = RoomTopic(topic),
            let second = try? FeedDecoder.espresense(read, Array(payload.utf8))
        else { fail("not understood: \(topic) \(payload)") }
        return second
    }
}
