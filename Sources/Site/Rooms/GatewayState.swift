import Base
import SiteProtocol

/// A gateway, or an ESPresense node, as `Hearing` knows it.
struct GatewayState: Sendable {
    var name: String
    /// The gateway's room; nil if unknown.
    var room: RoomIndex?
    var clock = GatewayClock()
    var acquaintance = Acquaintance.unknown
    var isAvailable = true
    /// Whether it is connected and listens. Then its silence is evidence (of a node, only that a tag is away).
    var isListening = false
    /// When it last began to listen. A node without telemetry says nothing while it hears no tag, so it may have listened all the time.
    var listensSince = MonotonicInstant.zero
    var isDeaf = false
    /// Several gateways have its name.
    var isShared = false
    /// Whether it heard nothing at all in its last second: then its silence about a tag is no evidence.
    var isQuiet = false
    /// Whether it also sends messages without readings. An ESPresense node does not, so its silence may mean anything.
    var sendsAlways = false
    /// When this ESPresense node last published telemetry, and how many seconds after the previous time; nil if it never did.
    var telemetry: (at: MonotonicInstant, period: Float)?
    /// Whether it has sent nothing since the service reconnected.
    var isAwaited = false
    /// nil if no message has arrived yet.
    var lastMessage: MonotonicInstant?
    /// When the latest message arrived that was too late to count; nil if there was none.
    var lastLate: MonotonicInstant?
    /// The start and the number of the latest message that counted; nil if there was none, and for a node.
    var latest: (startID: String, sequence: Int64)?
    /// Nanoseconds for which it had listened when that message arrived.
    var listened: Int64 = 0
    /// When it last reported a tag.
    var lastReading: MonotonicInstant?
    /// When it last received any advertisement; until it has received one, when its first message arrived.
    var lastReport: MonotonicInstant?
    /// Whether it has received any advertisement.
    var hasReceived = false
    /// When its card or a message last arrived; nil if none did since the start.
    var lastSign: MonotonicInstant?
    /// Whether the configuration names its room. Then it keeps its place, and is published before it is heard.
    var isConfigured = false
    /// How much more it measures than others, dB; 0 if that is unknown. It corrects what its levels alone say of the room. What was learned
    /// has its levels as they were measured.
    var offset: Float = 0
    /// Its previous room; nil if it had no other room since the start.
    var formerRoom: RoomIndex?
    /// When its room was set; nil if that was before this start.
    var placed: MonotonicInstant?
    /// The room that it named before, while it is unknown whether it was carried from there or the room was renamed: what it measured is set
    /// aside (`Learning.move`).
    var askedRoom: RoomIndex?

    /// Largest difference between two radios that is corrected, dB: a cable or an antenna that is missing makes no more.
    private static let largestOffset: Float = 15

    mutating func correct(by offsets: [String: Float]) {
        offset = max(-Self.largestOffset, min(Self.largestOffset, offsets[name] ?? 0))
    }

    /// This ESPresense node is running and listening.
    mutating func recordTelemetry(at now: MonotonicInstant) {
        let period = telemetry.map { now.seconds(since: $0.at) } ?? 0
        // The duration of an outage is not a period.
        let allowed = Self.leastTelemetryPeriod...TagPresence.longestLeaveTimeout
        telemetry = (now, max(allowed.lowerBound, min(period, allowed.upperBound)))
        (lastMessage, isAvailable) = (now, true)
    }

    /// Whether its messages count.
    var isKnown: Bool { acquaintance == .known }

    /// Whether it is published: its messages count, or the configuration names its room.
    var isTrusted: Bool { isKnown || isConfigured }

    /// Whether it is an ESPresense node: its latest message was one of a node.
    var isNode: Bool { !sendsAlways && lastMessage != nil }

    /// Whether nothing is missing between the gateway's latest message and this one. Something is missing if messages were lost or
    /// came too late to count, if the gateway was suspended, or if there was an interruption.
    ///
    /// It is always inlined: a call would copy this value for each message.
    ///
    /// - Parameter resumed: When the last interruption ended, of the connection or of all messages; nil if there was none.
    @inline(__always)
    func follows(_ second: HeardSecond, resumed: MonotonicInstant?, at now: MonotonicInstant) -> Bool {
        guard let latest, let lastMessage else { return true }
        // A gateway that lost its connection at the same time may have used no numbers meanwhile.
        if let resumed, lastMessage < resumed { return false }
        return second.startID == latest.startID && second.sequence == latest.sequence &+ 1
            && lastMessage.duration(to: now) <= Hearing.interruption
    }

    // MARK: Its silence

    /// When the gateway ceases to count as listening unless a message arrives; nil if none has arrived yet.
    @inline(__always)
    func silentAt(_ tuning: HearingTuning) -> MonotonicInstant? {
        lastMessage?.advanced(bySeconds: silenceSeconds(tuning))
    }

    /// The level that the gateway's silence about a tag stands for; none if the silence is no evidence. A node's silence never is,
    /// whatever the node reports about other tags.
    func levelOfSilence(_ tuning: SilenceTuning) -> OptionalLevel {
        isListening && !isQuiet && sendsAlways ? OptionalLevel(tuning.missLevel) : .none
    }

    /// For how many seconds after its last message the gateway counts as listening. One that has sent none yet may be an
    /// ibeacon-gateway. A node without telemetry sends nothing while it hears no tag, so only the tag's own silence shows that the tag left.
    @inline(__always)
    func silenceSeconds(_ tuning: HearingTuning) -> Float {
        if lastMessage == nil || sendsAlways { return tuning.gatewaySilenceSeconds }
        return hasTelemetry || isAwaited ? tuning.nodeSilenceSeconds : TagPresence.longestLeaveTimeout
    }

    /// Whether the silence of this node would be noticed: it is an ESPresense node and published telemetry shortly before its last message. A
    /// node may be told to publish none.
    var hasTelemetry: Bool {
        guard !sendsAlways, let telemetry, let lastMessage else { return false }
        return lastMessage.seconds(since: telemetry.at) <= 4 * telemetry.period
    }

    /// Whether a node's telemetry is overdue, so that nothing is known about the time since its last message.
    func missedTelemetry(at now: MonotonicInstant) -> Bool {
        guard hasTelemetry, let telemetry, let lastMessage else { return false }
        return now.seconds(since: lastMessage) > 1.5 * telemetry.period
    }

    /// The least period of a node's telemetry, seconds: that of ESPresense.
    static let leastTelemetryPeriod: Float = 15

    /// Whether the gateway sent a message later than those of the second in which it heard the tag, and is not late with the next. What
    /// came before a late message says nothing about the time after it.
    @inline(__always)
    func speaks(since heard: HeardLevel, at now: MonotonicInstant, _ tuning: SilenceTuning) -> Bool {
        guard let message = lastMessage, message.nanoseconds > heard.at.nanoseconds + 200_000_000 else { return false }
        guard now.nanoseconds - message.nanoseconds > tuning.lateNanoseconds else { return true }
        guard sendsAlways, let reading = lastReading else { return true }
        return message.nanoseconds - reading.nanoseconds >= tuning.attentiveNanoseconds
    }

    /// Whether the gateway has failed: it does not listen, or has been silent for longer than a message may be late.
    func hasFailed(at now: MonotonicInstant) -> Bool {
        guard isListening, let message = lastMessage else { return true }
        return now.nanoseconds - message.nanoseconds > GatewayClock.oldest
    }

    /// What is wrong with the gateway; nil if nothing is.
    ///
    /// - Parameter connected: Since when messages can arrive. Earlier silence does not count.
    func trouble(
        at now: MonotonicInstant, connected: MonotonicInstant, _ tuning: HearingTuning
    ) -> GatewayHealth.Trouble? {
        if isShared { return .sharedName }
        if !isAvailable { return .offline }
        if isDeaf { return .deaf }
        let silentSince = [connected, lastMessage, placed].compactMap(\.self).max() ?? connected
        if silentSince.advanced(bySeconds: silenceSeconds(tuning)) <= now {
            if let lastLate, lastLate.advanced(bySeconds: silenceSeconds(tuning)) > now { return .late }
            return lastMessage == nil ? .noReadings : .silent
        }
        return isListening || lastMessage.map { $0 < silentSince } ?? true ? nil : .notListening
    }

    // MARK: Its place in a full table

    /// A gateway that counts keeps its place in a full table until it has been silent for this long.
    private static let longestSilence: Duration = .seconds(86_400)

    /// Whether it may give way to a new one: it does not count, or has been silent for a day.
    ///
    /// - Parameter began: When the first input came.
    func givesWay(at now: MonotonicInstant, since began: MonotonicInstant?) -> Bool {
        !isConfigured && (!isKnown || sign(since: began).duration(to: now) > Self.longestSilence)
    }

    /// Its turn to give way, the lowest first: a gateway without a room that does not count, one that has only a card, one that was
    /// heard and does not count yet, one that counts.
    var rank: Int {
        switch acquaintance {
        case .known: 3
        case .unknown: room == nil ? 0 : 1
        case .met: room == nil ? 0 : 2
        }
    }

    /// When a card or a message of it last arrived; if none has, when the first input came.
    func sign(since began: MonotonicInstant?) -> MonotonicInstant { lastSign ?? began ?? .zero }
}
