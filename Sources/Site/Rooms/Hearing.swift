import Base
import SiteProtocol

/// The gateways and rooms of a site: which exist, in which room each gateway is, and whether its messages count and it listens.
///
/// Any client may name gateways and rooms, so both tables are bounded. An index is never moved, because what was learned refers to
/// it: once a table is full, a new entry takes the index of one that is no longer of use. The engine frees that index first,
/// because the other parts refer to it, too.
struct Hearing: Sendable {
    private(set) var gateways = Table<GatewayIndex, GatewayState>()
    private(set) var rooms = Table<RoomIndex, Room>()
    private var gatewayIndices: [String: GatewayIndex] = [:]
    private(set) var roomIndices = RoomIndices()
    /// When the latest message of any gateway arrived.
    private(set) var latestMessage: MonotonicInstant?
    /// When the next listening gateway may count as silent, or an earlier instant; nil if none listens.
    private(set) var silenceDue: MonotonicInstant?
    /// When the first input came.
    private var began: MonotonicInstant?
    /// When full tables were last reported.
    private var gatewaysReported: MonotonicInstant?
    private var roomsReported: MonotonicInstant?
    private let bounds: RoomEngine.Bounds
    private let tuning: HearingTuning

    /// Time between two findings about a full table.
    private static let findingPeriod: Duration = .seconds(600)
    /// Largest number of entries that a finding names.
    private static let mostNamed = 5
    /// A gateway that receives no advertisement for this long is deaf, if others received some within `recently`.
    private static let deafAfter: Duration = .seconds(40)
    private static let recently: Duration = .seconds(5)
    /// If no gateway at all was heard for this long, the connection was interrupted: a gateway sends at least every ten
    /// seconds.
    static let interruption: Duration = .seconds(12)
    /// A gateway has to confirm departures if it reported a tag at most this long before its last message.
    private static let evidence: Duration = .seconds(60)

    init(bounds: RoomEngine.Bounds, _ tuning: HearingTuning) { (self.bounds, self.tuning) = (bounds, tuning) }

    /// Records that an input came.
    mutating func begin(at now: MonotonicInstant) { if began == nil { began = now } }

    // MARK: Gateways

    func gateway(named name: String) -> GatewayIndex? { gatewayIndices[name] }

    /// Adds a gateway; nil if the table is full.
    mutating func addGateway(_ name: String) -> GatewayIndex? {
        guard gateways.count < bounds.gateways else { return nil }
        let gateway = gateways.append(GatewayState(name: name))
        gatewayIndices[name] = gateway
        return gateway
    }

    /// Gives the index of a gateway that was forgotten to a new one.
    mutating func replace(_ gateway: GatewayIndex, by name: String) {
        gatewayIndices[gateways[gateway].name] = nil
        gateways[gateway] = GatewayState(name: name)
        gatewayIndices[name] = gateway
    }

    /// The first gateway to give way to a new one; nil if there is none. Each message with an invented name may look for it in a full
    /// table, so it is found in one pass.
    func idlestGateway(at now: MonotonicInstant) -> GatewayIndex? {
        let began = began
        var idlest: (rank: Int, sign: MonotonicInstant, gateway: GatewayIndex)?
        for gateway in gateways.indices where gateways[gateway].givesWay(at: now, since: began) {
            let (rank, sign) = (gateways[gateway].rank, gateways[gateway].sign(since: began))
            // Of equals, the first found stays.
            if let idlest, (idlest.rank, idlest.sign) <= (rank, sign) { continue }
            idlest = (rank, sign, gateway)
        }
        return idlest?.gateway
    }

    /// The finding that the table of gateways is full; nil if it was made a short time ago.
    mutating func findFullGateways(newest name: String, at now: MonotonicInstant) -> RoomEngine.Finding? {
        guard Self.isDue(&gatewaysReported, at: now) else { return nil }
        let idle = gateways.indices.filter { gateways[$0].givesWay(at: now, since: began) }
        let all = idle.isEmpty ? Array(gateways.indices) : idle
        let names = all.sorted(by: isIdler).prefix(Self.mostNamed).map { gateways[$0].name }
        return .tooManyGateways(newest: name, idle: names)
    }

    /// Whether a gateway gives way before another: by its rank, and among equals the one that has been silent for longer.
    private func isIdler(_ left: GatewayIndex, _ right: GatewayIndex) -> Bool {
        (gateways[left].rank, gateways[left].sign(since: began), left)
            < (gateways[right].rank, gateways[right].sign(since: began), right)
    }

    /// Whether a finding about a full table is due, and records it.
    private static func isDue(_ last: inout MonotonicInstant?, at now: MonotonicInstant) -> Bool {
        if let last, last.duration(to: now) < findingPeriod { return false }
        last = now
        return true
    }

    /// Forgets a gateway, and where it is.
    ///
    /// - Returns: Whether its messages counted.
    mutating func forget(_ gateway: GatewayIndex) -> Bool {
        if let room = gateways[gateway].room { rooms[room].gateways.removeAll { $0 == gateway } }
        (gateways[gateway].room, gateways[gateway].askedRoom) = (nil, nil)
        gateways[gateway].clock.forget()
        gateways[gateway].latest = nil
        let wasKnown = gateways[gateway].isKnown
        gateways[gateway].acquaintance = .unknown
        return wasKnown
    }

    /// Learns the gateways' clocks anew.
    mutating func forgetClocks() { for gateway in gateways.indices { gateways[gateway].clock.forget() } }

    /// Sets how much more the gateways measure than others, dB; 0 for those that are not named.
    mutating func setOffsets(_ offsets: [String: Float]) {
        for gateway in gateways.indices { gateways[gateway].correct(by: offsets) }
    }

    // MARK: Rooms

    /// Adds a room; nil if the table is full.
    mutating func addRoom(_ name: RoomName) -> RoomIndex? {
        guard rooms.count < bounds.rooms else { return nil }
        let room = rooms.append(Room(name: name))
        roomIndices.set(room, name)
        return room
    }

    /// Two rooms exchange their names.
    mutating func exchangeNames(_ room: RoomIndex, _ other: RoomIndex) {
        let (name, otherName) = (rooms[room].name, rooms[other].name)
        rename(room, to: otherName)
        rename(other, to: name)
        roomIndices.set(room, otherName)
    }

    /// Gives a room another name, which no room has.
    mutating func rename(_ room: RoomIndex, to name: RoomName) {
        roomIndices.remove(rooms[room].name)
        rooms[room].name = name
        roomIndices.set(room, name)
    }

    /// The gateway stands in the room, as it always did: only the name of the room has changed.
    mutating func assign(_ gateway: GatewayIndex, to room: RoomIndex) {
        if let old = gateways[gateway].room { rooms[old].gateways.removeAll { $0 == gateway } }
        (gateways[gateway].room, gateways[gateway].formerRoom) = (room, nil)
        rooms[room].gateways.append(gateway)
    }

    /// Sets `GatewayState.askedRoom`.
    mutating func setAskedRoom(_ room: RoomIndex?, of gateway: GatewayIndex) { gateways[gateway].askedRoom = room }

    /// Gives the index of a room to a new one. No gateway is in it any more.
    mutating func replace(_ room: RoomIndex, by name: RoomName) {
        for gateway in gateways.indices {
            if gateways[gateway].room == room { gateways[gateway].room = nil }
            if gateways[gateway].formerRoom == room { gateways[gateway].formerRoom = nil }
            if gateways[gateway].askedRoom == room { gateways[gateway].askedRoom = nil }
        }
        rename(room, to: name)
        rooms[room] = Room(name: name)
    }

    /// A room that gives way to a new one, without a gateway that counts. A room without any gateway is preferred, then the one whose
    /// gateways have been silent for longest.
    ///
    /// - Parameter isUsed: Whether a room must stay for another reason.
    func idlestRoom(unless isUsed: (RoomIndex) -> Bool) -> RoomIndex? {
        var idlest: (sign: MonotonicInstant, room: RoomIndex)?
        for room in rooms.indices where !isUsed(room) {
            guard !hasGatewayThatCounts(room) else { continue }
            var latest = MonotonicInstant(nanoseconds: .min)
            for gateway in rooms[room].gateways { latest = max(latest, gateways[gateway].sign(since: began)) }
            if let idlest, idlest.sign <= latest { continue }
            idlest = (latest, room)
        }
        return idlest?.room
    }

    /// The finding that the table of rooms is full; nil if it was made a short time ago. It names the rooms that a request or a card can
    /// have added: those without a gateway that counts.
    mutating func findFullRooms(newest name: String, at now: MonotonicInstant) -> RoomEngine.Finding? {
        guard Self.isDue(&roomsReported, at: now) else { return nil }
        let names = rooms.indices.filter { !hasGatewayThatCounts($0) }.prefix(Self.mostNamed)
        return .tooManyRooms(newest: name, idle: names.map { rooms[$0].name.name })
    }

    func hasGatewayThatCounts(_ room: RoomIndex) -> Bool {
        rooms[room].gateways.contains { gateways[$0].isTrusted }
    }

    /// Records that a card, or the configuration, names the room of a gateway.
    mutating func recordCard(of gateway: GatewayIndex, isConfigured: Bool, at now: MonotonicInstant?) {
        gateways[gateway].lastSign = now
        if isConfigured { gateways[gateway].isConfigured = true }
    }

    /// Sets the room of a gateway.
    ///
    /// - Parameter now: nil if the room was known before this start.
    /// - Returns: Whether it is another room than before, and its former one.
    mutating func place(
        _ gateway: GatewayIndex, in room: RoomIndex, named name: RoomName, at now: MonotonicInstant?
    ) -> (isMoved: Bool, former: RoomIndex?) {
        // The form of the name that came first is kept, unless the only gateway of the room that counts changes it.
        let (former, known) = (gateways[gateway].room, rooms[room].name)
        let isOther =
            !name.name.hasSameBytes(as: known.name)
            && rooms[room].gateways.contains { $0 != gateway && gateways[$0].isTrusted }
        if former == room, !isOther, let form = RoomName(id: known.id, name: name.name) { rename(room, to: form) }
        guard former != room else { return (false, former) }
        if let former { rooms[former].gateways.removeAll { $0 == gateway } }
        gateways[gateway].formerRoom = former
        gateways[gateway].room = room
        gateways[gateway].placed = now
        rooms[room].gateways.append(gateway)
        return (true, former)
    }

    // MARK: Messages

    /// Judges by its time whether a message of the gateway counts.
    mutating func judge(_ second: HeardSecond, of gateway: GatewayIndex, at now: MonotonicInstant)
        -> GatewayClock.Verdict
    {
        gateways[gateway].lastSign = now
        let verdict = gateways[gateway].clock.judge(second, at: now)
        if verdict == .late { gateways[gateway].lastLate = now }
        return verdict
    }

    /// Whether several gateways were found just now to have this name. This comes before messages count: machines that share a name may
    /// never send three in a row, and so never count.
    mutating func detectSharedName(of gateway: GatewayIndex, at now: MonotonicInstant) -> RoomEngine.Finding? {
        let (isShared, wasShared) = (gateways[gateway].clock.isShared(at: now), gateways[gateway].isShared)
        gateways[gateway].isShared = isShared
        return isShared && !wasShared ? .shared(gateway: gateways[gateway].name) : nil
    }

    /// Whether the messages of a gateway count.
    enum Standing { case counts, countsFromNow, unknown }

    /// Records that a message of the gateway arrived.
    mutating func acquaint(_ gateway: GatewayIndex, startID: String, at now: MonotonicInstant) -> Standing {
        let wasKnown = gateways[gateway].isKnown
        guard gateways[gateway].acquaintance.record(startID: startID, at: now) else { return .unknown }
        return wasKnown ? .counts : .countsFromNow
    }

    /// Its messages counted before this start.
    mutating func restore(_ gateway: GatewayIndex) { gateways[gateway].acquaintance = .known }

    /// Records that a message of any gateway arrived.
    ///
    /// - Returns: Whether all gateways were silent for so long before it that the connection was interrupted.
    mutating func endSilence(at now: MonotonicInstant) -> Bool {
        defer { latestMessage = now }
        guard let latestMessage, latestMessage.duration(to: now) > Self.interruption else { return false }
        return isInterruption(since: latestMessage, at: now)
    }

    /// Whether all gateways have been silent for longer than any of them may be. An ibeacon-gateway that listens sends at least every ten
    /// seconds. Where there are only nodes, they may be silent for as long as their telemetry takes.
    private func isInterruption(since message: MonotonicInstant, at now: MonotonicInstant) -> Bool {
        var period = GatewayState.leastTelemetryPeriod
        for gateway in gateways.elements {
            if gateway.sendsAlways, gateway.isListening { return true }
            if gateway.hasTelemetry, let telemetry = gateway.telemetry { period = max(period, telemetry.period) }
        }
        return now.seconds(since: message) > 1.5 * period
    }

    /// A node has sent something.
    mutating func endWait(forNode gateway: GatewayIndex) { gateways[gateway].isAwaited = false }

    /// Records a message that counts.
    ///
    /// - Returns: A finding about what the gateway receives, and whether it listens.
    mutating func record(
        _ second: HeardSecond, of gateway: GatewayIndex, at now: MonotonicInstant
    ) -> (finding: RoomEngine.Finding?, isListening: Bool) {
        gateways[gateway].latest = second.startID.isEmpty ? nil : (second.startID, second.sequence)
        gateways[gateway].lastMessage = now
        if !second.readings.isEmpty { gateways[gateway].lastReading = now }
        // The latest message decides: a client that sends one in the name of a node must not make the node's silence evidence.
        gateways[gateway].sendsAlways = !second.startID.isEmpty
        // A message is proof, whatever the retained availability says.
        gateways[gateway].isAvailable = true
        let finding = recordReports(of: gateway, second, at: now)
        gateways[gateway].isQuiet = second.reports == 0 && second.readings.isEmpty
        return (finding, second.listening > .zero && !gateways[gateway].isDeaf)
    }

    /// Decides whether the gateway is deaf.
    private mutating func recordReports(
        of gateway: GatewayIndex, _ second: HeardSecond, at now: MonotonicInstant
    ) -> RoomEngine.Finding? {
        let receives = second.reports > 0 || !second.readings.isEmpty
        guard !receives, let last = gateways[gateway].lastReport else {
            gateways[gateway].lastReport = now
            if receives { gateways[gateway].hasReceived = true }
            guard gateways[gateway].isDeaf else { return nil }
            gateways[gateway].isDeaf = false
            return .hears(gateway: gateways[gateway].name)
        }
        let recently = now.advanced(by: .zero - Self.recently)
        guard !gateways[gateway].isDeaf, last.duration(to: now) > Self.deafAfter,
            gateways.elements.contains(where: { $0.hasReceived && ($0.lastReport.map { $0 > recently } ?? false) })
        else { return nil }
        gateways[gateway].isDeaf = true
        return .deaf(gateway: gateways[gateway].name)
    }

    /// Records the telemetry of an ESPresense node, which is running and listening.
    mutating func recordTelemetry(of gateway: GatewayIndex, at now: MonotonicInstant) {
        gateways[gateway].recordTelemetry(at: now)
    }

    mutating func sign(of gateway: GatewayIndex, at now: MonotonicInstant) { gateways[gateway].lastSign = now }

    mutating func setAvailable(_ gateway: GatewayIndex, _ isAvailable: Bool) {
        gateways[gateway].isAvailable = isAvailable
    }

    // MARK: Listening

    /// - Returns: Whether this is a change.
    mutating func setListening(_ gateway: GatewayIndex, _ isListening: Bool, at now: MonotonicInstant) -> Bool {
        guard gateways[gateway].isListening != isListening else { return false }
        gateways[gateway].isListening = isListening
        if isListening {
            let isTold = gateways[gateway].sendsAlways || gateways[gateway].hasTelemetry
            gateways[gateway].listensSince = isTold ? now : .zero
        }
        return true
    }

    /// Records for how many nanoseconds the gateway has listened, as presence counts them.
    mutating func setListened(_ gateway: GatewayIndex, _ nanoseconds: Int64) {
        gateways[gateway].listened = nanoseconds
    }

    /// A node may be silent for its whole time again, because the service reconnected. Otherwise no tag would go away if the
    /// node was silent from now on.
    mutating func await(_ gateway: GatewayIndex, at now: MonotonicInstant) {
        gateways[gateway].lastMessage = now
        gateways[gateway].isAwaited = true
    }

    /// Records when a gateway counts as silent. This is called whenever that may have changed, so that no input has to look at all gateways.
    mutating func updateSilence(of gateway: GatewayIndex) {
        guard gateways[gateway].isListening, let silent = gateways[gateway].silentAt(tuning) else { return }
        silenceDue = min(silenceDue ?? silent, silent)
    }

    /// The gateways that have sent nothing for too long. During an interruption nobody knows whether a node has sent anything.
    mutating func removeSilent(at now: MonotonicInstant, isInterrupted: Bool) -> [GatewayIndex] {
        guard let due = silenceDue, due <= now else { return [] }
        silenceDue = nil
        var found: [GatewayIndex] = []
        for gateway in gateways.indices where gateways[gateway].isListening {
            if isInterrupted, !gateways[gateway].sendsAlways { continue }
            guard let silent = gateways[gateway].silentAt(tuning) else { continue }
            if silent <= now {
                found.append(gateway)
            } else {
                silenceDue = min(silenceDue ?? silent, silent)
            }
        }
        return found
    }

    // MARK: Departures

    /// What confirms that a tag has left.
    ///
    /// - Parameter resumed: When the last interruption ended; nil if there was none.
    func confirmation(resumed: MonotonicInstant?) -> Departures.Confirmation {
        guard let latest = latestMessage else { return .none }
        // A node may connect later than the service.
        if gateways.elements.contains(where: { !$0.sendsAlways && $0.isListening && $0.isAwaited }) {
            return .unavailable
        }
        var earliest = latest
        var (isOneThere, isOneKnown) = (false, false)
        for gateway in gateways.elements where (gateway.sendsAlways || gateway.hasTelemetry) && gateway.room != nil {
            if gateway.sendsAlways { isOneKnown = true }
            // A gateway that the broker calls offline may be about to return: a new connection ends the old one. The time of such a node
            // stands still.
            guard let message = gateway.lastMessage, gateway.sendsAlways || gateway.isAvailable else { continue }
            // It is gone if others were heard after its time ended. After an interruption, that time begins anew for all.
            let spoke = max(message, resumed ?? message)
            if spoke.advanced(bySeconds: gateway.silenceSeconds(tuning)) <= latest { continue }
            isOneThere = true
            guard let reading = gateway.lastReading, reading.duration(to: message) <= Self.evidence else { continue }
            earliest = min(earliest, message)
        }
        // If none of them heard a tag recently, any message shows that the connection works.
        guard isOneThere else {
            // Tags that a listening node no longer reports are away, and no message of a gateway is needed.
            let isNodeListening = gateways.elements.contains { !$0.sendsAlways && $0.isListening }
            return isOneKnown && !isNodeListening ? .unavailable : .none
        }
        return .message(earliest)
    }
}
