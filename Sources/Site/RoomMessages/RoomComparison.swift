import Base
import Beacon
import Regions
import RoomRules
import Rooms
package import SiteCore
package import SiteProtocol

/// What this project and other programs say of the same recordings: each rule hears what each gateway heard of a tag in each second.
///
/// A gateway is in the room that its last card names, and an ESPresense node in that of its name. Our rule is the whole rooms service,
/// which begins without training.
///
/// Memory: 24 bytes for each reading.
package struct RoomComparison: Sendable {
    /// A change that is taken back within this time probably was false: the tag returned to the room from which it came. Seconds.
    package static let shortStay = 60.0
    /// Longer pauses between two messages are no part of the recording, seconds.
    private static let longestPause = 60.0
    /// The rules that are compared with ours, by their names in `peerRules`.
    private static let peers = ["Bermuda", "Home Assistant mqtt_room", "strongest packet, at most 10 s old"]
    package static let own = "ibeacon-gateway"

    private var replay: RoomReplay
    /// Of each beacon, in the order of arrival.
    private var readings: [BeaconID: [PeerReading]] = [:]
    private var gateways: [String] = []
    private var gatewayIndices: [String: Int] = [:]
    private var roomsOfGateways: [String: String] = [:]
    /// What our service published, by the id of the tag; nil: in no room.
    private var reports: [String: [(time: Double, room: String?)]] = [:]
    /// Seconds since 1970.
    private var (first, last): (Double?, Double?) = (nil, nil)
    /// Of the recordings without their pauses.
    package private(set) var seconds = 0.0

    package init(_ settings: SiteSettings, open: @escaping RoomReplay.Opening = { _, payload in payload }) {
        replay = RoomReplay(settings, open: open)
    }

    package var lines: Int { replay.lines }
    package var problems: Int { replay.problems }
    /// The gateways that have a room.
    package var gatewayCount: Int { gateways.count { roomsOfGateways[$0] != nil } }

    package mutating func beginRecording() { carry { $0.beginRecording($1) { _ in } } }

    /// Plays one line.
    ///
    /// - Throws: Why the line or its message was refused. The next can be played.
    package mutating func play(line: some Collection<UInt8>) throws(FeedError) {
        var published: [RoomReplay.Published] = []
        defer { note(published) }
        let played = try replay.play(line: line, { published.append($0) }) { _ in }
        guard let played else { return }
        let time = Double(played.epochNanoseconds) / 1e9
        if let last, time > last, time - last <= Self.longestPause { seconds += time - last }
        (first, last) = (min(first ?? time, time), max(last ?? time, time))
        switch played.message {
        case .heard(let gateway, let second): add(second, of: gateway, at: time)
        case .nodeHeard(let node, let second):
            if roomsOfGateways[node] == nil { roomsOfGateways[node] = node }
            add(second, of: node, at: time)
        case .card(let gateway, let card?): if let room = card.room { roomsOfGateways[gateway] = room.name }
        default: break
        }
    }

    private mutating func add(_ second: HeardSecond, of gateway: String, at time: Double) {
        let index = gatewayIndices[gateway] ?? gateways.count
        if index == gateways.count {
            gateways.append(gateway)
            gatewayIndices[gateway] = index
        }
        for reading in second.readings {
            guard let level = reading.level else { continue }
            let age = Double(reading.age.nanoseconds) / 1e9
            readings[reading.beacon, default: []].append(
                PeerReading(time: time - age, level: Double(level), gateway: index))
        }
    }

    private mutating func carry(_ body: (inout RoomReplay, (RoomReplay.Published) -> Void) -> Void) {
        var published: [RoomReplay.Published] = []
        body(&replay) { published.append($0) }
        note(published)
    }

    private mutating func note(_ published: [RoomReplay.Published]) {
        for (epoch, message) in published {
            guard case .tag(_, let id) = RoomTopic(message.topic), let tag = PublishedTag(message.payload) else {
                continue
            }
            reports[id, default: []].append((Double(epoch) / 1e9, tag.room?.name))
        }
    }

    // MARK: Results

    /// Compares the rules on each tag that was heard, in the order of the list of tags.
    ///
    /// - Parameter truth: Where tags were; nil: that is not known.
    package func results(truth: RoomTruth?) -> [TagComparison] {
        guard let first, let last else { return [] }
        let known = Set(roomsOfGateways.values).union(reports.values.joined().compactMap(\.room)).union(
            truth?.rooms ?? [])
        let rooms = known.sorted()
        let numbers = Dictionary(uniqueKeysWithValues: rooms.enumerated().map { ($1, $0) })
        // A gateway without a room is nobody's.
        let places = gateways.map { roomsOfGateways[$0].flatMap { numbers[$0] } ?? -1 }
        return replay.site.engine.tags.compactMap { tag in
            let heard = readings.filter { tag.pattern.matches($0.key) }.values.joined()
                .filter { places[Int($0.gateway)] >= 0 && $0.time >= first }.sorted { $0.time < $1.time }
            guard !heard.isEmpty else { return nil }
            let own = (reports[tag.id] ?? []).map { (time: $0.time, room: $0.room.flatMap { numbers[$0] } ?? -1) }
            let stays = truth?.stays(of: tag.name, id: tag.id, rooms: numbers, until: last) ?? []
            var said: [(name: String, changes: [RoomChange])] = [(Self.own, Self.changes(own))]
            for (name, rule) in peerRules(rooms: places) where Self.peers.contains(name) {
                said.append((name, Self.play(rule, heard, in: first...last)))
            }
            let lines = said.map { TagComparison.Line(name: $0.name, $0.changes, stays, seconds: seconds) }
            return TagComparison(name: tag.name, readings: heard.count, lines: lines)
        }
    }

    private static func play(
        _ rule: any PeerRule, _ readings: [PeerReading], in times: ClosedRange<Double>
    ) -> [RoomChange] {
        var rule = rule
        return rule.play(readings, in: times)
    }

    /// Without what says the same as before.
    private static func changes(_ reports: [RoomChange]) -> [RoomChange] {
        var changes: [RoomChange] = []
        for report in reports where changes.last?.room != report.room { changes.append(report) }
        return changes
    }
}
