package import Base
import Beacon
import Gateway
import Health
import JSON
import OwnTracks
package import Status

/// Describes the gateway's entities to Home Assistant, publishes their states, and removes old entities.
///
/// The gateway publishes the retained states of regions and the availability also without Home Assistant; everything
/// else that the entities show comes from here. The feed remembers the sent messages and returns differences, so it can
/// be called at every turn.
package struct HomeAssistantFeed: Sendable {
    package struct Settings: Hashable, Sendable {
        /// The discovery prefix, usually `homeassistant`.
        package var prefix: String
        /// The gateway's `deviceId`.
        package var device: String
        package var version: String
        /// The address of the status page for other machines, if there is one.
        package var pageURL: String?
        /// Whether buttons and selectors are offered: commands are obeyed without encryption.
        package var takesCommands: Bool
        /// The area in which Home Assistant creates the gateway's device.
        package var area: String?
        /// Names that the gateway had before as its `deviceId`, whose entities are to be removed.
        package var formerDevices: [String] = []

        package init(
            prefix: String, device: String, version: String, pageURL: String? = nil, takesCommands: Bool = true,
            area: String? = nil
        ) {
            self.area = area
            self.prefix = prefix
            self.device = device
            self.version = version
            self.pageURL = pageURL
            self.takesCommands = takesCommands
        }

        /// Where this gateway describes its entities.
        var topics: DiscoveryTopics { DiscoveryTopics(prefix: prefix, device: device) }
        var nodeID: String { topics.nodeID }
    }

    /// A request of a user in Home Assistant.
    package enum Request: Hashable, Sendable {
        case restartScan
        case reportLocation(tracker: Int)
        case setMonitoring(tracker: Int, mode: Int)
    }

    /// The limit of regions of one tracker that become entities. Each region has five or six entities.
    package static let regionLimit = 200
    /// Descriptions of earlier runs, or of other clients, that are removed at one connection. Further ones stay until the next.
    package static let strangeLimit = 10_000
    /// The interval of signal updates. Signals change with every packet, and each change is a row in Home Assistant's
    /// recorder: at this interval at most 288 rows of each region and day.
    package static let signalPeriod: Duration = .seconds(600)
    /// The interval of battery updates. A voltage changes a little with each reading.
    package static let batteryPeriod: Duration = .seconds(600)
    package static let gatewayPeriod: Duration = .seconds(60)
    /// The payload that makes Home Assistant remove an entity.
    package static let removalDelay: Duration = .seconds(4)
    /// A signal older than this is not published.
    static let signalLife: Duration = .seconds(30)

    package private(set) var settings: Settings
    /// Payloads by topic. One that is too long to be remembered is empty.
    private var announced: [ExactString: String] = [:]
    /// Descriptions received on this connection that are not known.
    private var strangeCount = 0
    private var states: [ExactString: String] = [:]
    private var sentAt: [ExactString: MonotonicInstant] = [:]
    private var isStale = true
    /// The data of the last descriptions.
    private var described: [TrackerShape] = []
    /// Descriptions of an earlier run arrived, or the settings have changed: the next `update` compares all.
    private var mustCompareDescriptions = false
    private var removed = RemovedDescriptions()
    private var former: FormerDevices
    /// Former devices of which nothing is left to remove.
    private var finished: [String] = []
    /// Home Assistant announced its start, and `update` was not called since.
    private var isBorn = false
    /// The rounds that starts of Home Assistant cause: any client may publish one.
    private var births = RoundLimit(pause: .seconds(30))
    /// States whose descriptions were removed, and when.
    private var retired: [ExactString: MonotonicInstant] = [:]
    /// The part of the gateway's state whose changes are published at once.
    private var health: [String] = []
    /// Whether messages waited when the gateway's state was published last.
    private var toldWaiting = false

    package init(_ settings: Settings) {
        self.settings = settings
        former = FormerDevices(settings)
    }

    /// Removes and returns the former devices that are done with.
    package mutating func drainFinished() -> [String] {
        defer { finished = [] }
        return finished
    }

    // MARK: Input

    /// The subscriptions on each connection: Home Assistant's birth message, descriptions that earlier runs published,
    /// and commands.
    package var subscriptions: [String] {
        var topics = settings.topics.births.sorted() + [settings.topics.descriptions]
        if settings.takesCommands { topics.append(DeviceTopics.command(device: settings.device)) }
        return topics + former.subscriptions
    }

    /// The broker may have lost retained messages: the next `update` sends all of them again.
    package mutating func connected() {
        (isStale, strangeCount) = (true, 0)
        former.connected()
    }

    /// Takes other settings. The next `update` describes what they change, and removes what they no longer allow.
    ///
    /// A new feed could not remove anything: the broker sends retained descriptions only for a new subscription.
    ///
    /// - Returns: Whether the settings are in force; false: the descriptions have other topics, which need a new feed.
    package mutating func change(to new: Settings) -> Bool {
        guard new.prefix.hasSameBytes(as: settings.prefix), new.device.hasSameBytes(as: settings.device) else {
            return false
        }
        if new.formerDevices != settings.formerDevices { former = FormerDevices(new) }
        (settings, mustCompareDescriptions) = (new, true)
        return true
    }

    /// Handles a message on one of the subscriptions.
    ///
    /// - Returns: The request of a user, if the message is one. After any other message, `update` is needed.
    package mutating func received(
        topic: String, payload: String, isRetained: Bool, at now: MonotonicInstant
    ) -> Request? {
        if settings.topics.births.contains(topic) {
            // A retained birth message is old, and everything is sent at each connection.
            if payload == "online", !isRetained, births.want(at: now) { (isStale, isBorn) = (true, true) }
            return nil
        }
        if former.received(topic: topic, payload: payload, isRetained: isRetained) { return nil }
        if topic == DeviceTopics.command(device: settings.device) {
            return isRetained || !settings.takesCommands ? nil : Self.request(payload)
        }
        // A description from before a restart: `update` removes it if it is no longer valid.
        if settings.topics.isDescription(topic), isRetained, !payload.isEmpty, announced[topic] == nil,
            strangeCount < Self.strangeLimit
        {
            announced[topic] = payload.utf8.count <= RemovedDescriptions.mostBytes ? payload : ""
            strangeCount += 1
            mustCompareDescriptions = true
        }
        return nil
    }

    private static func request(_ payload: String) -> Request? {
        let words = payload.split(separator: ":", omittingEmptySubsequences: false)
        switch (words.first, words.count) {
        case ("restart-scan", 1): return .restartScan
        case ("report-location", 2): return Int(words[1]).map { .reportLocation(tracker: $0) }
        case ("monitoring", 3):
            guard let tracker = Int(words[1]), let mode = modes.firstIndex(of: String(words[2])) else { return nil }
            return .setMonitoring(tracker: tracker, mode: mode - 1)
        default: return nil
        }
    }

    /// OwnTracks' modes −1 … 2.
    private static let modes = ["quiet", "manual", "significant", "move"]

    // MARK: Output

    /// Whether a message has come since the last `update` that needs one.
    package var needsUpdate: Bool { isStale || mustCompareDescriptions }

    /// The messages that bring Home Assistant up to date.
    package mutating func update(_ snapshot: StatusSnapshot) -> [Publication] {
        if births.begin(at: snapshot.now) { (isStale, isBorn) = (true, true) }
        let tellsAll = isStale
        // Descriptions received from the broker stay known, so that old ones are removed.
        if isStale { (states, sentAt, isStale) = ([:], [:], false) }
        var messages = descriptions(snapshot, tellsAll: tellsAll) + removed.messagesDue(at: snapshot.now)
        if isBorn { messages += removed.messagesAtBirth(at: snapshot.now) }
        isBorn = false
        // States follow the descriptions, because Home Assistant must have subscribed when they arrive.
        var current: Set<ExactString> = []
        func send(_ topic: String, _ value: JSONValue, every period: Duration?) {
            current.insert(topic)
            let text = value.text
            guard states[topic].map(ExactString.init(_:)) != ExactString(text) else { return }
            if let period, let last = sentAt[topic], last.duration(to: snapshot.now) < period { return }
            states[topic] = text
            sentAt[topic] = snapshot.now
            messages.append(.homeAssistant(topic, text))
        }
        // A queue that waits briefly for an acknowledgement is not published; an empty queue is.
        let isNews = health != snapshot.health || (toldWaiting && snapshot.queue.pending == 0)
        health = snapshot.health
        let own = DeviceTopics.gateway(device: settings.device)
        let before = sentAt[own]
        send(own, snapshot.gatewayState, every: isNews ? nil : Self.gatewayPeriod)
        if sentAt[own] != before { toldWaiting = snapshot.queue.pending > 0 }
        for tracker in snapshot.trackers {
            send(tracker.presenceTopic, tracker.presenceState, every: nil)
            for region in tracker.regions.prefix(Self.regionLimit) {
                guard tracker.tellsPresence else {
                    current.insert(tracker.batteryTopic(rid: region.rid))
                    let topic = tracker.signalTopic(rid: region.rid)
                    send(topic, withheldSignal(after: states[topic]), every: nil)
                    // The signal is told at once when it may be told again.
                    sentAt[topic] = nil
                    continue
                }
                let battery = tracker.batteryTopic(rid: region.rid)
                if let state = region.battery {
                    let isNews = states[battery].map { $0.hasPart(Self.lowMark) != state.isLow } ?? true
                    send(battery, state.entityState, every: isNews ? nil : Self.batteryPeriod)
                } else {
                    // The retained value of an earlier run is still the latest.
                    current.insert(battery)
                }
                let topic = tracker.signalTopic(rid: region.rid)
                guard region.lastHeard != nil, snapshot.wallClock.isKnown else {
                    // The retained value of an earlier run is still the latest. And Home Assistant logs an error for a
                    // time that is null.
                    current.insert(topic)
                    if states[topic] == nil { states[topic] = "" }
                    continue
                }
                let isNews = states[topic]?.isEmpty ?? true
                send(topic, region.signalState(snapshot), every: isNews ? nil : Self.signalPeriod)
            }
        }
        retire(states.keys.filter { !current.contains($0) }, at: snapshot.now)
        return messages + removals(except: current, at: snapshot.now)
    }

    /// Replaces a signal that may no longer be told. The time stays, because Home Assistant logs an error for one that is
    /// null.
    private func withheldSignal(after last: String?) -> JSONValue {
        let seen = last.flatMap { try? JSONValue(parsing: Array($0.utf8)) }?["seen"]
        return ["rssi": .null, "distance": .null, "beacon": .null, "seen": seen ?? .null]
    }

    /// In the payload of a low battery.
    private static let lowMark = "\"low\":true"

    /// The topic of the signal, the battery or the presence in a description that is removed.
    private static func stateTopic(describedBy payload: String) -> String? {
        guard let topic = (try? JSONValue(parsing: Array(payload.utf8)))?["state_topic"]?.string,
            DeviceTopics.belongsToEntity(topic)
        else { return nil }
        return topic
    }

    /// New and removed descriptions. A thousand descriptions take long, so they are made only if their data has
    /// changed.
    private mutating func descriptions(_ snapshot: StatusSnapshot, tellsAll: Bool) -> [Publication] {
        removeFormerDevices(at: snapshot.now)
        let shape = snapshot.trackers.map(TrackerShape.init)
        guard tellsAll || mustCompareDescriptions || shape != described else { return [] }
        (described, mustCompareDescriptions) = (shape, false)
        let wanted = DiscoveryList(snapshot, settings: settings, announced: Set(announced.keys)).messages
        let topics = Set(wanted.map { ExactString($0.topic) })
        let gone = announced.filter { !topics.contains($0.key) }
        retire(Set(gone.values.compactMap(Self.stateTopic(describedBy:)).map(ExactString.init(_:))), at: snapshot.now)
        defer { announced = Dictionary(wanted.map { (ExactString($0.topic), $0.text) }) { first, _ in first } }
        for topic in topics { removed.remove(topic.text) }
        for (topic, payload) in gone { removed.add(topic.text, payload: payload) }
        return wanted.filter { tellsAll || announced[$0.topic].map(ExactString.init(_:)) != ExactString($0.text) }
            + gone.keys.sorted().map { .homeAssistant($0.text, "") }
    }

    /// Their descriptions become known, so that they are removed like those that an earlier run left.
    private mutating func removeFormerDevices(at now: MonotonicInstant) {
        guard !former.isEmpty else { return }
        let due = former.due(at: now)
        finished += due.finished
        retire(due.states, at: now)
        guard !due.descriptions.isEmpty else { return }
        announced.merge(
            due.descriptions.mapValues { $0.utf8.count <= RemovedDescriptions.mostBytes ? $0 : "" }
        ) { first, _ in first }
        mustCompareDescriptions = true
    }

    private mutating func retire(_ topics: some Sequence<ExactString>, at now: MonotonicInstant) {
        for topic in topics {
            (states[topic], sentAt[topic]) = (nil, nil)
            retired[topic] = now
        }
    }

    /// Empties states some time after their descriptions were removed: Home Assistant would otherwise log errors while
    /// it is still subscribed.
    private mutating func removals(except current: Set<ExactString>, at now: MonotonicInstant) -> [Publication] {
        retired = retired.filter { !current.contains($0.key) }
        let due = retired.filter { $0.value.duration(to: now) >= Self.removalDelay }.keys.sorted()
        for topic in due { retired[topic] = nil }
        return due.map { .homeAssistant($0.text, "") }
    }

    fileprivate static func modeName(_ mode: Int) -> String {
        modes.indices.contains(mode + 1) ? modes[mode + 1] : "significant"
    }
}

/// The data of the descriptions of a tracker's entities.
private struct TrackerShape: Equatable {
    private let texts: [ExactString]

    init(_ tracker: StatusSnapshot.TrackerStatus) {
        texts =
            ([tracker.tid, tracker.topic, tracker.device, tracker.name ?? ""]
            + tracker.regions.prefix(HomeAssistantFeed.regionLimit).flatMap {
                [$0.rid, $0.name, $0.description, $0.battery == nil ? "" : "battery"]
            }).map(
                ExactString.init(_:))
    }
}

extension StatusSnapshot {
    fileprivate func timestamp(_ instant: MonotonicInstant?) -> JSONValue {
        guard let instant, wallClock.isKnown else { return .null }
        return iso8601(epochSeconds: wallClock.epochSeconds(at: instant)).map(JSONValue.string) ?? .null
    }

    /// The state whose changes are published at once.
    fileprivate var health: [String] {
        findings.filter { $0.level != .ok }.map(\.subject)
            + [scanner.adapters.contains { $0.isListening || $0.isPausing } ? "listens" : ""]
    }

    fileprivate var gatewayState: JSONValue {
        let rate = scanner.adapters.reduce(0) { $0 + $1.reportsPerSecond }
        return [
            "listening": .bool(scanner.adapters.contains { $0.isListening || $0.isPausing }),
            "reportsPerSecond": .number((rate * 10).rounded() / 10),
            "beacons": .integer(Int64(beacons.count)), "queue": .integer(Int64(queue.pending)),
            "started": timestamp(startedAt),
            "problems": .array(
                findings.filter { $0.level != .ok }.prefix(10).map { .string("\($0.subject): \($0.text)") }),
        ]
    }
}

extension BatteryState {
    fileprivate var entityState: JSONValue {
        [
            "battery": .integer(Int64(battery.percent)), "low": .bool(isLow),
            "voltage": battery.millivolts.map { .plain(Double($0) / 1000) } ?? .null,
            "temperature": temperature.map { .plain((Double($0) * 10).rounded() / 10) } ?? .null,
        ]
    }
}

extension StatusSnapshot.TrackerStatus {
    var presenceTopic: String { DeviceTopics.presence(device: device, of: topic) }
    func signalTopic(rid: String) -> String { DeviceTopics.signal(device: device, rid: rid) }
    func batteryTopic(rid: String) -> String { DeviceTopics.battery(device: device, rid: rid) }

    fileprivate var presenceState: JSONValue {
        let monitoring = JSONValue.string(HomeAssistantFeed.modeName(monitoring))
        // Null is "unknown" for Home Assistant.
        guard tellsPresence else { return ["state": .null, "in_zones": [], "regions": [], "monitoring": monitoring] }
        let inside = regions.filter(\.isInside)
        return [
            "state": inside.isEmpty ? "not_home" : "home",
            "in_zones": inside.isEmpty ? [] : ["zone.home"],
            "regions": .array(inside.prefix(50).map { .string($0.name.asEntityName) }),
            "monitoring": monitoring,
        ]
    }
}

extension StatusSnapshot.RegionStatus {
    fileprivate func signalState(_ snapshot: StatusSnapshot) -> JSONValue {
        let isFresh = lastHeard.map { $0.duration(to: snapshot.now) <= HomeAssistantFeed.signalLife } ?? false
        return [
            "rssi": isFresh ? rssi.map { .integer(Int64($0.dBm)) } ?? .null : .null,
            "distance": isFresh ? distance.map { .plain(($0 * 10).rounded() / 10) } ?? .null : .null,
            "beacon": beacon.map { .string("\($0)") } ?? .null, "seen": snapshot.timestamp(lastHeard),
        ]
    }
}
