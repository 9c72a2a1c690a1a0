import Base
import Configuration
import OwnTracks

/// The commands that came and are not carried out yet, the counts of all, and the last refusals.
///
/// It decides when a command may be carried out, and whether; what a command does is decided elsewhere.
struct Commands: Sendable {
    enum Admission {
        case admitted(OwnTracks.Command)
        /// The broker had retained the message, and it was applied before.
        case appliedBefore([Gateway.Effect])
        case refused([Gateway.Effect])
    }

    private var gate: CommandGate
    /// The last refused commands and waypoints.
    private(set) var refusals = RecentRefusals()

    /// - Parameter obeyed: The envelopes of commands that were obeyed before this start.
    init(obeyed: ObeyedEnvelopes = ObeyedEnvelopes()) { gate = CommandGate(of: .gateway, obeyed: obeyed) }

    /// When the next command may be carried out; nil if none waits.
    var due: MonotonicInstant? { gate.due }

    var counts: CommandCounts { gate.counts }

    /// The envelopes of commands that were obeyed.
    var storedEnvelopes: Gateway.Effect { .value(key: ObeyedEnvelopes.storeKey, gate.obeyed.bytes) }

    /// Puts a command into the queue; a later tick carries it out. One turn of the loop delivers all messages of the
    /// broker's thread, but each large command needs a turn of its own.
    ///
    /// - Parameter topic: On which it came.
    mutating func receive(_ received: ReceivedCommand, on topic: String, at now: MonotonicInstant) -> [Gateway.Effect] {
        gate.receive(received, at: now).map { report($0, on: topic, at: now) } ?? []
    }

    /// Takes the next command, if it may be carried out now.
    ///
    /// - Parameter regions: The number of regions: a command may read or write each of them.
    mutating func next(at now: MonotonicInstant, regions: Int) -> ReceivedCommand? {
        gate.next(at: now, regions: regions)
    }

    /// Takes all commands, when the service ends: the broker counts them as delivered and does not send them again.
    mutating func drain() -> [ReceivedCommand] { gate.drain() }

    /// Decides whether a command is carried out.
    mutating func admit(
        _ received: ReceivedCommand, to tracker: TrackerState, by settings: Configuration, at now: MonotonicInstant
    ) -> Admission {
        let topic = tracker.topics.command
        let rights = CommandGate.Rights(
            obeysCommands: settings.obeysCommands, allowsRemoteConfiguration: settings.allowsRemoteConfiguration,
            needsEncryption: tracker.configuration.encryptionKey != .absent)
        switch gate.admit(received, rights, applied: tracker.appliedCommands) {
        case .refused(let refusal): return .refused(report(refusal, on: topic, at: now))
        case .appliedBefore:
            return .appliedBefore([.log(LogEntry(.info, "command-repeated", CommandGate.repetition(on: topic)))])
        case .admitted(let command): return .admitted(command)
        }
    }

    mutating func countDone() { gate.countDone() }

    /// Refuses a command that cannot be carried out.
    ///
    /// - Parameter topic: On which it came; nil: its tracker no longer exists, and the refusal is only counted.
    mutating func refuse(
        _ reason: CommandRefusal.Reason, _ text: String, on topic: String?, at now: MonotonicInstant
    ) -> [Gateway.Effect] {
        let refusal = gate.refuse(reason, text)
        return topic.map { report(refusal, on: $0, at: now) } ?? []
    }

    /// Mistakes of one `setConfiguration` that are told. It may have as many as members.
    private static let mostReasons = 9

    /// Refuses a `setConfiguration`.
    ///
    /// - Parameter base: The base topic of the tracker that got it.
    /// - Returns: A line of the log for each reason. What is counted and shown is one refusal, with all of them.
    mutating func refuseSettings(because reasons: [String], of base: String, at now: MonotonicInstant) -> [Gateway
        .Effect]
    {
        let topic = Topics.command(below: base)
        var told = Array(reasons.prefix(Self.mostReasons))
        if reasons.count > told.count { told.append("and \(reasons.count - told.count) more") }
        _ = refuse(.configuration, "setConfiguration: \(told.joined(separator: "; "))", on: topic, at: now)
        return told.map { reason in
            let text = CommandRefusal.logLine(of: "setConfiguration: \(reason)", on: topic)
            return .log(LogEntry(.warning, "command-refused", text, of: topic))
        }
    }

    private mutating func report(_ refusal: CommandRefusal, on topic: String, at now: MonotonicInstant) -> [Gateway
        .Effect]
    {
        refusals.add(refusal.text, on: topic, at: now)
        return [.log(LogEntry(.warning, "command-refused", refusal.logLine(on: topic), of: topic))]
    }

    /// Records a refusal that is logged elsewhere. nil: there is none.
    mutating func record(_ refusal: String?, of source: String, on topic: String, at now: MonotonicInstant) {
        if let refusal { refusals.add("\(source): \(refusal)", on: topic, at: now) }
    }

    /// Remembers the envelope of a command that is carried out, so that a repetition is refused.
    ///
    /// - Parameter epoch: Seconds since 1970; nil: the time of day is not known.
    mutating func rememberEnvelope(of received: ReceivedCommand, at epoch: Int64?) -> [Gateway.Effect] {
        gate.remember(received, at: epoch) ? [storedEnvelopes] : []
    }

    /// Logs the mistakes in the regions of a `setWaypoints`.
    mutating func report(_ reading: WaypointsReading, of tracker: TrackerState, at now: MonotonicInstant) -> [Gateway
        .Effect]
    {
        let topic = tracker.topics.base
        var effects = reading.problems.prefix(10).map { problem in
            Gateway.Effect.log(LogEntry(.warning, "waypoint-refused", "setWaypoints: \(problem)", of: topic))
        }
        if reading.problemCount > 10 {
            let text = "setWaypoints: and \(reading.problemCount - 10) more"
            effects.append(.log(LogEntry(.warning, "waypoint-refused", text, of: "\(topic) more")))
        }
        for problem in reading.problems.prefix(10) {
            refusals.add("setWaypoints: \(problem)", on: tracker.topics.command, at: now)
        }
        // They are taken, and no beacon enters them.
        effects += reading.remarks.prefix(10).map { remark in
            Gateway.Effect.log(LogEntry(.warning, "waypoint-remark", "setWaypoints: \(remark)", of: topic))
        }
        if reading.remarks.count > 10 {
            let text = "setWaypoints: and \(reading.remarks.count - 10) more remarks"
            effects.append(.log(LogEntry(.warning, "waypoint-remark", text, of: "\(topic) more")))
        }
        return effects
    }

    /// The trackers have other indices now.
    ///
    /// - Parameter newIndices: The new index of each tracker by its old one. Waiting commands of others are dropped.
    mutating func moveTrackers(to newIndices: [Int: Int]) { gate.moveTrackers(to: newIndices) }
}
