import Base
import Beacon
import Regions
import RoomRules
import Rooms
package import SiteCore
package import SiteProtocol

/// What this project and other programs say of the same recordings: each rule hears what each gateway heard of a tag in each second.
///
/// A gateway is in the room in which our engine has it. Our rule is the whole rooms service, which begins without training. All
/// are played in the virtual time of the replay, so that a clock that was set, and a pause, mean the same to each.
///
/// Memory: 24 bytes for each reading.
package struct RoomComparison: Sendable {
    /// A change that is taken back within this time probably was false: the tag returned to the room from which it came. Seconds.
    package static let shortStay = 60.0
    /// The rules that are compared with ours, by their names in `peerRules`.
    private static let peers = ["Bermuda", "Home Assistant mqtt_room", "strongest packet, at most 10 s old"]
    package static let own = "ibeacon-gateway"

    private var replay: RoomReplay
    /// Of each beacon, in the order of arrival.
    private var readings: [BeaconID: [PeerReading]] = [:]
    private var gateways: [String] = []
    private var gatewayIndices: [String: Int] = [:]
    /// In which our engine had them last.
    private var roomsOfGateways: [String: RoomName] = [:]
    private var fixedAddresses: FixedAddresses
    /// What our service published, by the id of the tag, in seconds of virtual time; nil: in no room.
    private var reports: [String: [(time: Double, room: RoomName?)]] = [:]
    /// The recordings without their pauses.
    private var parts: [RecordedPart] = []

    package init(_ settings: SiteSettings, open: @escaping RoomReplay.Opening = { _, payload in payload }) {
        replay = RoomReplay(settings, open: open)
        fixedAddresses = FixedAddresses(settings.tags)
    }

    package var lines: Int { replay.lines }
    package var problems: Int { replay.problems }
    /// The gateways that were heard and have a room.
    package var gatewayCount: Int { gateways.count { roomsOfGateways[$0] != nil } }
    /// Of the recordings without their pauses.
    package var seconds: Double { Double(parts.reduce(0) { $0 + $1.length }) / 1e9 }

    package mutating func beginRecording() { carry { $0.beginRecording($1) { _ in } } }

    /// Plays one line.
    ///
    /// - Throws: Why the line or its message was refused. The next can be played.
    package mutating func play(line: some Collection<UInt8>) throws(FeedError) {
        var published: [RoomReplay.Published] = []
        defer { note(published) }
        guard let message = try replay.play(line: line, { published.append($0) }, { _ in }) else { return }
        noteTime()
        switch message {
        case .heard(let gateway, let second): add(second, of: gateway)
        case .nodeHeard(let node, let second): add(second, of: node)
        case .aliasHeard(let alias, let node, let reading):
            let beacon = replay.site.whereabouts.aliases.knownBeacon(of: alias)
            if let beacon, let second = try reading.second(of: beacon) { add(second, of: node) }
        case .card(let gateway, let card):
            if let card { fixedAddresses.record(card) }
            noteRoom(of: gateway)
        default: break
        }
    }

    private mutating func noteTime() {
        let (now, offset) = (replay.now, replay.offset ?? 0)
        if let last = parts.indices.last, parts[last].add(at: now, offset: offset) { return }
        parts.append(RecordedPart(now, now, offset: offset))
    }

    /// The card of a gateway that is removed at the end of a recording takes its room with it.
    private mutating func noteRoom(of gateway: String) {
        if let room = replay.site.engine.plan.room(ofGateway: gateway) { roomsOfGateways[gateway] = room }
    }

    private mutating func add(_ second: HeardSecond, of gateway: String) {
        noteRoom(of: gateway)
        let index = gatewayIndices[gateway] ?? gateways.count
        if index == gateways.count {
            gateways.append(gateway)
            gatewayIndices[gateway] = index
        }
        let time = replay.now.virtualSeconds
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
        for (_, instant, message) in published {
            guard case .tag(_, let id) = RoomTopic(message.topic), let tag = PublishedTag(message.payload) else {
                continue
            }
            reports[id, default: []].append((instant.virtualSeconds, tag.room))
        }
    }

    // MARK: Results

    /// The tags of the recordings, heard or not: their names and ids.
    package var tags: [(name: String, id: String)] { replay.site.engine.tags.map { ($0.name, $0.id) } }

    /// The rooms in which a gateway stands, or of which our service knows otherwise, sorted by name.
    package var rooms: [RoomName] {
        let known = Array(roomsOfGateways.values) + replay.site.engine.plan.roomReports.map(\.name)
        return Set(known + reports.values.joined().compactMap(\.room)).sorted { $0.name < $1.name }
    }

    /// Compares the rules on each tag that was heard, in the order of the list of tags.
    ///
    /// - Parameter truth: Where tags were; nil: that is not known.
    package func results(truth: RoomTruth?) -> [TagComparison] {
        guard let begin = parts.first?.begin, let end = parts.last?.end else { return [] }
        let times = begin.virtualSeconds...end.virtualSeconds
        // Forms of one name are one room.
        let keys = Set((rooms + (truth?.rooms ?? [])).map(\.key)).sorted()
        let numbers = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
        func number(_ room: RoomName?) -> Int { room.flatMap { numbers[$0.key] } ?? -1 }
        // A gateway without a room is nobody's.
        let places = gateways.map { number(roomsOfGateways[$0]) }
        return replay.site.engine.tags.compactMap { tag in
            let heard = readings.filter { tag.pattern.matches($0.key) }.values.joined()
                .filter { places[Int($0.gateway)] >= 0 && $0.time >= times.lowerBound }.sorted { $0.time < $1.time }
            guard !heard.isEmpty else { return nil }
            let own = (reports[tag.id] ?? []).map { (time: $0.time, room: number($0.room)) }
            let stays = truth?.stays(of: tag.name, id: tag.id, rooms: numbers, in: parts) ?? []
            let address = fixedAddresses.answer(tag.pattern)
            var said: [(name: String, changes: [RoomChange])] = [(Self.own, Self.changes(own))]
            for (name, rule) in peerRules(rooms: places, hasFixedAddress: address != .beacon)
            where Self.peers.contains(name) {
                said.append((name, Self.play(rule, heard, in: times)))
            }
            let lines = said.map { TagComparison.Line(name: $0.name, $0.changes, stays, seconds: seconds) }
            return TagComparison(
                name: tag.name, id: tag.id, readings: heard.count, isAddressAssumed: address == .assumedAddress,
                lines: lines)
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
