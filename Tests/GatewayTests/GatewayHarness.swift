import Base
import Beacon
import Configuration
import Gateway
import JSON
import OwnTracks
import Regions
import Testing

/// A gateway in virtual time, and what came out of it.
struct GatewayHarness {
    static let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
    /// What the wall clock shows when virtual time begins.
    static let epoch: Int64 = 1_700_000_000

    var gateway: Gateway
    private(set) var now = MonotonicInstant.zero
    private(set) var effects: [Gateway.Effect] = []
    private var lastEdit: Int64 = 0
    /// What would be on the disk under keys of the core.
    private(set) var storedValues: [String: [UInt8]] = [:]
    /// What would be on the disk of presence: the last whole, and the changes since.
    private(set) var storedWhole: [UInt8] = []
    private(set) var storedChanges: [[UInt8]] = []
    /// What was known of presence when it was stored last.
    private(set) var presenceWhenStored: KeptPresence?

    /// - Parameter json: Members of the configuration, JSON5 without the outer braces.
    init(_ json: String = "", isClockKnown: Bool = true) throws {
        let configuration = try Self.configuration(json)
        gateway = Gateway(
            configuration: configuration,
            wallClock: WallClock(epochOffset: Self.epoch * 1_000_000_000, isKnown: isClockKnown),
            explainsTransitions: true)
        handle(.start(StoredState(configuration: configuration, regions: [])))
        handle(.listening(Receiver(index: 0), true))
    }

    static func configuration(_ json: String) throws -> Configuration {
        let text = "{_type: \"configuration\", username: \"jane\", deviceId: \"hall\", leaveAfter: 60, \(json)}"
        return try Configuration(parsing: Array(text.utf8), hostName: "test")
    }

    /// The program ends, and starts again `seconds` later with what was kept, as bytes; it listens again at once.
    ///
    /// - Parameters:
    ///   - json: Members of the configuration.
    ///   - isSameBoot: false: the machine restarted too, and its monotonic clock begins again.
    ///   - isClockKnown: Whether the wall clock is set when it starts.
    ///   - regions: What the store has; nil: what was in force.
    mutating func restart(
        _ json: String = "", after seconds: Int, isSameBoot: Bool = true, isClockKnown: Bool = true,
        regions: [RegionSet]? = nil
    ) throws {
        handle(.stopping)
        let kept = try #require(KeptPresence(bytes: storedWhole))
        let stored = regions ?? gateway.trackers.map(\.regions)
        let epoch = gateway.wallClock.epochOffset + now.nanoseconds + Int64(seconds) * 1_000_000_000
        now = isSameBoot ? now.advanced(by: .seconds(seconds)) : MonotonicInstant(nanoseconds: 5_000_000_000)
        let configuration = try Self.configuration(json)
        gateway = Gateway(
            configuration: configuration,
            wallClock: WallClock(epochNanoseconds: isClockKnown ? epoch : 0, at: now, isKnown: isClockKnown),
            explainsTransitions: true)
        handle(
            .start(
                StoredState(
                    configuration: configuration, regions: stored, presence: .kept(kept, isSameBoot: isSameBoot),
                    pendingClears: gateway.trackers.map { pendingClear(of: $0) })))
        handle(.listening(Receiver(index: 0), true))
    }

    private func pendingClear(of tracker: TrackerState) -> Set<ExactString> {
        Gateway.pendingClear(storedValues[Gateway.pendingClearKey(of: tracker.topics.base)] ?? [])
    }

    /// Begins anew with what was kept, and listens.
    mutating func begin(with kept: KeptPresence, regions: [RegionSet], isSameBoot: Bool) {
        let configuration = gateway.configuration
        gateway = Gateway(configuration: configuration, wallClock: gateway.wallClock, explainsTransitions: true)
        effects = []
        handle(
            .start(
                StoredState(
                    configuration: configuration, regions: regions, presence: .kept(kept, isSameBoot: isSameBoot),
                    pendingClears: gateway.trackers.map { pendingClear(of: $0) })))
        handle(.listening(Receiver(index: 0), true))
    }

    /// Changes regions as the status page does.
    ///
    /// - Returns: what was logged.
    @discardableResult
    mutating func change(_ changes: [RegionChange]) -> [String] {
        let before = effects.count
        handle(.request(.changeRegions(tracker: 0, changes)))
        return effects[before...].compactMap { if case .log(let entry) = $0 { entry.text } else { nil } }
    }

    /// Changes regions as the command line does.
    mutating func edit(_ changes: [RegionChange], topic: String = "owntracks/jane/hall") {
        let edits = changes.map { change in
            lastEdit += 1
            return RegionEdit(id: lastEdit, tracker: topic, change: .region(change))
        }
        handle(.regionEdits(edits))
    }

    /// The wall clock is set by so many seconds.
    mutating func step(by seconds: Int64) {
        let offset = gateway.wallClock.epochOffset + seconds * 1_000_000_000
        handle(.wallClock(WallClock(epochOffset: offset, isKnown: true)))
    }

    /// The machine is suspended for so long.
    mutating func sleep(_ seconds: Int) {
        now = now.advanced(by: .seconds(seconds))
        handle(.absent(.seconds(seconds)))
    }

    mutating func handle(_ input: Gateway.Input) {
        let new = gateway.handle(input, at: now)
        effects += new
        for effect in new {
            switch effect {
            case .presence(.whole(let whole)): (storedWhole, storedChanges) = (whole, [])
            case .presence(.change(let change)): storedChanges.append(change)
            case .value(let key, let bytes):
                storedValues[key] = bytes
                continue
            case .forget(let key):
                storedValues[key] = nil
                continue
            default: continue
            }
            presenceWhenStored = gateway.keptPresence(at: now)
        }
    }

    /// Time passes and the gateway gets no input: the machine was suspended, or the program did not run.
    mutating func pass(_ seconds: Int) { now = now.advanced(by: .seconds(seconds)) }

    mutating func pass(_ duration: Duration) { now = now.advanced(by: duration) }

    /// Lets time pass, with every decision made when it is due.
    mutating func wait(_ seconds: Int) {
        let end = now.advanced(by: .seconds(seconds))
        while let deadline = gateway.nextDeadline, deadline < end {
            now = max(now, deadline)
            handle(.tick)
        }
        now = end
        handle(.tick)
    }

    mutating func hear(major: UInt16 = 1, minor: UInt16 = 7, rssi: Int8 = -60) throws {
        let uuid = try #require(BeaconUUID(Self.uuid))
        handle(
            .sighting(
                Sighting(
                    beacon: BeaconID(uuid: uuid, major: major, minor: minor), measuredPower: MeasuredPower(dBm: -59),
                    rssi: RSSI(reported: rssi), receiver: Receiver(index: 0))))
    }

    /// A command on a tracker's `/cmd`, and the tick that carries it out.
    mutating func command(
        _ json: String, tracker: Int = 0, isRetained: Bool = false, wasEncrypted: Bool = false,
        envelope: CommandEnvelope? = nil, ticks: Bool = true
    ) {
        let command = Result { () throws(CommandError) in try Command(parsing: Array(json.utf8)) }
        handle(
            .command(
                ReceivedCommand(
                    tracker: tracker, command: command, isRetained: isRetained, wasEncrypted: wasEncrypted,
                    digest: CommandDigest(of: json.utf8), envelope: envelope)))
        if ticks { handle(.tick) }
    }

    /// `setWaypoints` with these elements.
    mutating func setWaypoints(_ elements: String, isRetained: Bool = false) {
        command(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":["# + elements
                + "]}}",
            isRetained: isRetained)
    }

    /// One element of `setWaypoints`.
    static func waypoint(_ name: String, rid: String, suffix: String = ":1:7", more: String = "") -> String {
        #"{"_type":"waypoint","tst":1600000000,"rid":"\#(rid)","desc":"\#(name):\#(uuid)\#(suffix)"\#(more)}"#
    }

    /// Removes and returns the messages published since the last call.
    mutating func drainMessages() -> [Publication] {
        defer { effects = [] }
        return effects.compactMap { if case .publish(let message) = $0 { message } else { nil } }
    }

    /// Removes the messages published since the last call. Returns `topic payload` of each, without retained states.
    mutating func drainTexts() -> [String] {
        drainMessages().filter { $0.kind != .state }.map {
            "\($0.topic) \(String(decoding: $0.payload, as: UTF8.self))"
        }
    }

    /// Removes the messages published since the last call. Returns `enter Kitchen` for each transition among them.
    mutating func drainEvents() throws -> [String] {
        try drainMessages().filter { $0.kind == .transition }.map { message in
            let json = try JSONValue(parsing: message.payload)
            return "\(json["event"]?.string ?? "?") \(json["desc"]?.string ?? "?")"
        }
    }
}
