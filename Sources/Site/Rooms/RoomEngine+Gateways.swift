import Base
import SiteProtocol

/// A gateway as the engine knows it.
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
    /// When this ESPresense node last published telemetry, and how long after the time before, seconds; nil if it has not.
    var telemetry: (at: MonotonicInstant, period: Float)?
    /// Whether it has sent nothing since the service reconnected.
    var isAwaited = false
    /// nil if no message has arrived yet.
    var lastMessage: MonotonicInstant?
    /// When the latest message arrived that was too late to count; nil if there was none.
    var lastLate: MonotonicInstant?
    /// Its latest message that counted, by the start of the gateway and the number; nil if none did, and of a node.
    var latest: (boot: String, sequence: Int64)?
    /// Nanoseconds for which it had listened when that message arrived.
    var listened: Int64 = 0
    /// When it last reported a tag.
    var lastReading: MonotonicInstant?
    /// When it last received any advertisement at all; before the first one, when its first message arrived.
    var lastReport: MonotonicInstant?
    /// Whether it has received any advertisement.
    var hasReceived = false
    /// When its card or a message last arrived; nil if none did since the start.
    var lastSign: MonotonicInstant?
    /// Whether the configuration names its room. Then it keeps its place, and is published before it is heard.
    var isConfigured = false
    /// Its previous room; nil if it had no other room since the start.
    var formerRoom: RoomIndex?
    /// When its room was set; nil if that was before this start.
    var placed: MonotonicInstant?

    /// Whether its messages count.
    var isKnown: Bool { acquaintance == .known }

    /// Whether it is published: its messages count, or the configuration names its room.
    var isTrusted: Bool { isKnown || isConfigured }

    /// Whether all that the gateway heard since its latest message is known. It is not if messages between the two were lost, or
    /// came too late to count, if the gateway itself stood still, or if there was an interruption.
    ///
    /// - Parameter resumed: When the last interruption ended, of the connection or of all messages (`endInterruption`); nil if there was none.
    func follows(_ second: HeardSecond, resumed: MonotonicInstant?, at now: MonotonicInstant) -> Bool {
        guard let latest, let lastMessage else { return true }
        // A gateway that lost its connection at the same time may have used no numbers meanwhile.
        if let resumed, lastMessage < resumed { return false }
        return second.boot == latest.boot && second.sequence == latest.sequence &+ 1
            && lastMessage.duration(to: now) <= RoomEngine.interruption
    }

    /// Whether it is an ESPresense node: its latest message was one of a node.
    var isNode: Bool { !sendsAlways && lastMessage != nil }

    /// When it counts as no longer listening unless a message arrives; nil if none has arrived yet.
    @inline(__always)
    func silentAt(_ tuning: RoomTuning) -> MonotonicInstant? {
        lastMessage?.advanced(bySeconds: silenceSeconds(tuning))
    }

    /// The level that its silence about a tag stands for; none if the silence says nothing. A node's silence says nothing,
    /// whatever it reports about other tags.
    func levelOfSilence(_ tuning: RoomTuning) -> OptionalLevel {
        isListening && !isQuiet && sendsAlways ? OptionalLevel(tuning.missLevel) : .none
    }

    /// It counts as listening for this long after its last message. One that has sent none yet may be an ibeacon-gateway. A node without
    /// telemetry sends nothing while it hears no tag, so that only a tag's own silence tells that the tag left.
    @inline(__always)
    func silenceSeconds(_ tuning: RoomTuning) -> Float {
        if lastMessage == nil || sendsAlways { return tuning.gatewaySilenceSeconds }
        return hasTelemetry || isAwaited ? tuning.nodeSilenceSeconds : TagPresence.longestLeaveTimeout
    }

    /// Whether the silence of this node would be noticed: it is an ESPresense node and published telemetry shortly before its last message. A
    /// node may be told to publish none.
    var hasTelemetry: Bool {
        guard !sendsAlways, let telemetry, let lastMessage else { return false }
        return lastMessage.seconds(since: telemetry.at) <= 4 * telemetry.period
    }

    /// Whether nothing is known of the time since the message of a node before this one: its telemetry is overdue.
    func missedTelemetry(at now: MonotonicInstant) -> Bool {
        guard hasTelemetry, let telemetry, let lastMessage else { return false }
        return now.seconds(since: lastMessage) > 1.5 * telemetry.period
    }

    /// The least period of a node's telemetry, seconds: that of ESPresense.
    static let leastTelemetryPeriod: Float = 15
}

extension RoomEngine {
    /// Sets the room of a gateway, as the gateway or a person says. What a moved gateway measured is learned again.
    ///
    /// - Parameters:
    ///   - isConfigured: Whether the configuration names the room.
    ///   - now: nil if the room was known before this start.
    mutating func place(
        _ name: String, in roomName: String, isConfigured: Bool = false, at now: MonotonicInstant? = nil,
        _ effects: inout [Effect]
    ) {
        guard let gateway = gatewayIndex(name, at: now, &effects) else {
            counters.refused += 1
            return
        }
        gateways[gateway].lastSign = now
        if isConfigured { gateways[gateway].isConfigured = true }
        guard let room = roomIndex(roomName, at: now, &effects) else {
            counters.refused += 1
            return
        }
        // Names that differ only in case or punctuation have the same id. Any client may send the card of a gateway that does not count.
        if gateways[gateway].isTrusted || !hasGatewayThatCounts(rooms[room]) { rooms[room].name.name = roomName }
        let former = gateways[gateway].room
        guard former != room else { return }
        if let former { rooms[former].gateways.removeAll { $0 == gateway } }
        // The cards of a gateway that does not count erase nothing.
        if let former, gateways[gateway].isKnown {
            discardWindows()
            forgetLevels(of: gateway)
            forgetRest { $0.levels.contains { $0.gateway == gateway } }
            // Decisions that were based on the gateway at its old place may be wrong altogether.
            for room in [former, room] {
                rooms[room].own.removeAll()
                rooms[room].placed = 0
                rooms[room].unplacedSeconds = rooms[room].labelled.seconds
                forgetExits(of: room)
            }
        }
        gateways[gateway].formerRoom = former
        gateways[gateway].room = room
        gateways[gateway].placed = now
        rooms[room].gateways.append(gateway)
        roomsWithoutGateway = nil
    }

    /// Forgets what a gateway measured in each room.
    private mutating func forgetLevels(of gateway: GatewayIndex) {
        for room in rooms.indices {
            rooms[room].labelled.forget(gateway: gateway)
            rooms[room].own.forget(gateway: gateway)
        }
    }

    mutating func setAvailable(
        _ name: String, _ isAvailable: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard let gateway = gatewayIndices[name] else { return }
        gateways[gateway].isAvailable = isAvailable
        // The broker notices late that a node is gone. A node says that it is there when it has connected: it was restarted, or had no connection.
        if !gateways[gateway].sendsAlways { forgetListening(of: gateway, at: now) }
        if !isAvailable { setListening(gateway, false, at: now, &effects) }
    }

    /// Records that a message of the gateway arrived, and returns whether its messages count.
    mutating func acquaint(_ gateway: GatewayIndex, boot: String, at now: MonotonicInstant) -> Bool {
        let wasKnown = gateways[gateway].isKnown
        guard gateways[gateway].acquaintance.record(boot: boot, at: now) else { return false }
        guard !wasKnown else { return true }
        // What was learned before says nothing about it.
        for room in rooms.indices {
            rooms[room].labelled.welcome(gateway: gateway)
            rooms[room].own.welcome(gateway: gateway)
        }
        return true
    }

    /// Forgets a gateway and all that it measured. Another gateway may take its place.
    mutating func forget(_ gateway: GatewayIndex, at now: MonotonicInstant, _ effects: inout [Effect]) {
        setListening(gateway, false, at: now, &effects)
        if let room = gateways[gateway].room { rooms[room].gateways.removeAll { $0 == gateway } }
        gateways[gateway].room = nil
        roomsWithoutGateway = nil
        gateways[gateway].clock.forget()
        gateways[gateway].latest = nil
        // Nothing was taken from a gateway that did not count.
        guard gateways[gateway].isKnown else { return gateways[gateway].acquaintance = .unknown }
        gateways[gateway].acquaintance = .unknown
        for tag in states.indices {
            learnRest(of: tag)
            states[tag].levels.removeAll { $0.gateway == gateway }
        }
        for room in rooms.indices {
            rooms[room].labelled.remove(gateway: gateway)
            rooms[room].own.remove(gateway: gateway)
        }
    }

    /// This runs before messages count: machines that share a name may never send three in a row, and so never count.
    mutating func detectSharedName(of gateway: GatewayIndex, at now: MonotonicInstant, _ effects: inout [Effect]) {
        let isShared = gateways[gateway].clock.isShared(at: now)
        if isShared, !gateways[gateway].isShared {
            effects.append(.found(.shared(gateway: gateways[gateway].name)))
        }
        gateways[gateway].isShared = isShared
    }

    /// Records a message of the gateway: it is connected, and the message says whether it listens.
    mutating func recordMessage(
        of gateway: GatewayIndex, _ second: HeardSecond, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        endInterruption(at: now)
        if !gateways[gateway].follows(second, resumed: departures.resumed, at: now) {
            // It covers one second. Of the time before nobody knows what the gateway heard.
            let listened = gateways[gateway].listened + second.listening.nanoseconds
            presence.forgetListening(of: gateway, after: listened, at: now)
        }
        if second.boot.isEmpty { endSilence(ofNode: gateway, at: now) }
        gateways[gateway].latest = second.boot.isEmpty ? nil : (second.boot, second.sequence)
        gateways[gateway].lastMessage = now
        if !second.readings.isEmpty { gateways[gateway].lastReading = now }
        // The latest message decides: a client that sends one in the name of a node must not make the node's silence evidence.
        gateways[gateway].sendsAlways = !second.boot.isEmpty
        // A message is proof, whatever the retained availability says.
        gateways[gateway].isAvailable = true
        recordReports(of: gateway, second, at: now, &effects)
        gateways[gateway].isQuiet = second.reports == 0 && second.readings.isEmpty
        setListening(gateway, second.listening > .zero && !gateways[gateway].isDeaf, at: now, &effects)
        gateways[gateway].listened = presence.listened(by: gateway, at: now)
        updateSilence(of: gateway)
    }

    /// Records the telemetry of an ESPresense node, which is running and listening. A node that has reported no tag is unknown.
    mutating func recordTelemetry(of name: String, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard let gateway = gatewayIndices[name], !gateways[gateway].sendsAlways,
            acquaint(gateway, boot: "", at: now)
        else { return }
        gateways[gateway].lastSign = now
        endInterruption(at: now)
        endSilence(ofNode: gateway, at: now)
        let period = gateways[gateway].telemetry.map { now.seconds(since: $0.at) } ?? 0
        // After an outage, the time of it is no period.
        let allowed = GatewayState.leastTelemetryPeriod...TagPresence.longestLeaveTimeout
        gateways[gateway].telemetry = (now, max(allowed.lowerBound, min(period, allowed.upperBound)))
        gateways[gateway].lastMessage = now
        gateways[gateway].isAvailable = true
        setListening(gateway, true, at: now, &effects)
        gateways[gateway].listened = presence.listened(by: gateway, at: now)
    }

    /// A node has sent something.
    private mutating func endSilence(ofNode gateway: GatewayIndex, at now: MonotonicInstant) {
        if gateways[gateway].missedTelemetry(at: now) { forgetListening(of: gateway, at: now) }
        gateways[gateway].isAwaited = false
    }

    /// Nobody knows what the gateway heard since its last message.
    mutating func forgetListening(of gateway: GatewayIndex, at now: MonotonicInstant) {
        presence.forgetListening(of: gateway, after: gateways[gateway].listened, at: now)
    }

    /// Decides whether the gateway is deaf.
    private mutating func recordReports(
        of gateway: GatewayIndex, _ second: HeardSecond, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let receives = second.reports > 0 || !second.readings.isEmpty
        guard !receives, let last = gateways[gateway].lastReport else {
            gateways[gateway].lastReport = now
            if receives { gateways[gateway].hasReceived = true }
            if gateways[gateway].isDeaf {
                gateways[gateway].isDeaf = false
                effects.append(.found(.hears(gateway: gateways[gateway].name)))
            }
            return
        }
        let recently = now.advanced(by: .seconds(-5))
        guard !gateways[gateway].isDeaf, last.duration(to: now) > Self.deafAfter,
            gateways.elements.contains(where: { $0.hasReceived && ($0.lastReport.map { $0 > recently } ?? false) })
        else { return }
        gateways[gateway].isDeaf = true
        effects.append(.found(.deaf(gateway: gateways[gateway].name)))
    }

    /// A gateway that receives no advertisement for this long is deaf, if others receive some.
    private static let deafAfter: Duration = .seconds(40)

    mutating func setListening(
        _ gateway: GatewayIndex, _ isListening: Bool, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        guard gateways[gateway].isListening != isListening else { return }
        gateways[gateway].isListening = isListening
        if isListening {
            let isTold = gateways[gateway].sendsAlways || gateways[gateway].hasTelemetry
            gateways[gateway].listensSince = isTold ? now : .zero
        }
        if let room = gateways[gateway].room, rooms[room].labelled.count > 0 { roomsWithoutGateway = nil }
        updateSilence(of: gateway)
        take(presence.setListening(gateway, isListening, at: now), at: now, &effects)
    }

    /// Records what the silence of a gateway about a tag says, and when it counts as silent itself. This is called whenever
    /// either may have changed, so that neither a window nor an input looks at all gateways.
    mutating func updateSilence(of gateway: GatewayIndex) {
        scratch.vector.levels[gateway] = gateways[gateway].levelOfSilence(tuning)
        guard gateways[gateway].isListening, let silent = gateways[gateway].silentAt(tuning) else { return }
        silenceDue = min(silenceDue ?? silent, silent)
    }

    /// Gateways that have sent nothing for too long count as no longer listening. During an interruption nobody knows whether a node
    /// has sent anything.
    mutating func silence(at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard let silenceDue, silenceDue <= now else { return }
        self.silenceDue = nil
        var next: MonotonicInstant?
        for gateway in gateways.indices where gateways[gateway].isListening {
            if departures.isInterrupted, !gateways[gateway].sendsAlways { continue }
            guard let silent = gateways[gateway].silentAt(tuning) else { continue }
            if silent <= now {
                // Nobody knows what it heard while there was no connection. The time of a node has begun again since (`setConnected`).
                if gateways[gateway].sendsAlways && departures.wasInterrupted(since: gateways[gateway].lastMessage)
                    || gateways[gateway].missedTelemetry(at: now)
                {
                    forgetListening(of: gateway, at: now)
                }
                setListening(gateway, false, at: now, &effects)
            } else {
                next = min(next ?? silent, silent)
            }
        }
        self.silenceDue = next
    }
}
