import Base
import Beacon
import SiteProtocol

/// Which tags are at home, and what the gateways' listening says about that.
///
/// `TagPresence` lets a tag leave when all gateways that heard it have listened without it for long enough. `Departures` holds that until
/// the gateways confirm it. Time in which a gateway may have heard the tag unnoticed does not count as silence.
///
/// `Hearing` knows the gateways; it is an argument, because other parts ask it, too.
struct Attendance: Sendable {
    /// What an input about a gateway changes.
    struct Change {
        /// Whether the gateway began or ceased to listen.
        var isListeningChanged = false
        /// The tags that came home.
        var arrived: [TagIndex] = []
    }

    private var presence: TagPresence
    private var departures = Departures()

    init(mostTags: Int) { presence = TagPresence(mostTags: mostTags) }

    var nextDeadline: MonotonicInstant? { presence.nextDeadline }

    /// The tag of a beacon; nil if the beacon is not a tag.
    @inline(__always)
    mutating func tag(of beacon: BeaconID) -> TagIndex? { presence.tag(of: beacon) }

    /// The silence after which the slowest of its gateways gives up the tag; nil if none hears it.
    func leaveTimeout(of tag: TagDescription, at now: MonotonicInstant) -> Duration? {
        presence.leaveTimeout(of: tag, at: now)
    }

    // MARK: Coming and leaving

    /// - Returns: The tags that came home.
    @inline(__always)
    mutating func hear(_ reading: Reading, by gateway: GatewayIndex, at now: MonotonicInstant) -> [TagIndex] {
        let changes = presence.hear(reading, by: gateway, at: now)
        return changes.isEmpty ? [] : take(changes, at: now)
    }

    /// Lets tags that were silent for long enough leave, and makes them wait for the confirmation.
    ///
    /// - Returns: The tags that came home.
    mutating func tick(at now: MonotonicInstant) -> [TagIndex] {
        guard let deadline = presence.nextDeadline, deadline <= now else { return [] }
        return take(presence.tick(at: now), at: now)
    }

    private mutating func take(_ changes: [TagPresence.Change], at now: MonotonicInstant) -> [TagIndex] {
        var arrived: [TagIndex] = []
        for change in changes {
            switch change {
            case .entered(let tag): if !departures.remove(tag) { arrived.append(tag) }
            case .left(let tag, let last): departures.insert(tag, at: now, last: last)
            }
        }
        return arrived
    }

    /// Whether tags wait for the confirmation of their departure, and it may come.
    var hasDepartures: Bool { !departures.isEmpty && !departures.isInterrupted }

    /// The tags whose departure is confirmed: they are away.
    mutating func removeConfirmed(_ tags: borrowing Tags, _ hearing: borrowing Hearing, at now: MonotonicInstant)
        -> [TagIndex]
    {
        guard hasDepartures else { return [] }
        let confirmed: [(tag: TagIndex, beacon: BeaconID?)]
        switch hearing.confirmation(resumed: departures.resumed) {
        case .unavailable: return []
        case .none: confirmed = departures.removeConfirmed(by: nil)
        case .message(let earliest): confirmed = departures.removeConfirmed(by: earliest)
        }
        var left: [TagIndex] = []
        for (tag, beacon) in confirmed {
            if let beacon, tags.contains(index: tag), !presence.hasGivenUp(beacon, of: tags[tag].description, at: now) {
                departures.insert(tag, at: now, last: beacon)
            } else {
                left.append(tag)
            }
        }
        return left
    }

    // MARK: What gateways send

    /// Records a message of the gateway: it is connected, and the message says whether it listens.
    mutating func record(
        _ second: HeardSecond, of gateway: GatewayIndex, _ hearing: inout Hearing, at now: MonotonicInstant
    ) -> (finding: RoomEngine.Finding?, change: Change) {
        endInterruption(&hearing, at: now)
        if !hearing.gateways[gateway].follows(second, resumed: departures.resumed, at: now) {
            // The message covers one second. What the gateway heard before is unknown.
            let listened = hearing.gateways[gateway].listened + second.listening.nanoseconds
            presence.forgetListening(of: gateway, after: listened, at: now)
        }
        if second.startID.isEmpty { endSilence(ofNode: gateway, &hearing, at: now) }
        let (finding, isListening) = hearing.record(second, of: gateway, at: now)
        let change = setListening(gateway, isListening, &hearing, at: now)
        hearing.setListened(gateway, presence.listened(by: gateway, at: now))
        hearing.updateSilence(of: gateway)
        return (finding, change)
    }

    /// Records the telemetry of an ESPresense node whose messages count. The node is running and listening.
    mutating func recordTelemetry(of gateway: GatewayIndex, _ hearing: inout Hearing, at now: MonotonicInstant)
        -> Change
    {
        hearing.sign(of: gateway, at: now)
        endInterruption(&hearing, at: now)
        endSilence(ofNode: gateway, &hearing, at: now)
        hearing.recordTelemetry(of: gateway, at: now)
        let change = setListening(gateway, true, &hearing, at: now)
        hearing.setListened(gateway, presence.listened(by: gateway, at: now))
        return change
    }

    /// A message came. After a long silence of all gateways, departures have to be confirmed again.
    private mutating func endInterruption(_ hearing: inout Hearing, at now: MonotonicInstant) {
        if hearing.endSilence(at: now) { departures.begin(again: now) }
    }

    /// A node has sent something.
    private mutating func endSilence(ofNode gateway: GatewayIndex, _ hearing: inout Hearing, at now: MonotonicInstant) {
        if hearing.gateways[gateway].missedTelemetry(at: now) { forgetListening(of: gateway, hearing, at: now) }
        hearing.endWait(forNode: gateway)
    }

    // MARK: Listening

    /// Records whether the gateway is connected to the broker.
    mutating func setAvailable(
        _ gateway: GatewayIndex, _ isAvailable: Bool, _ hearing: inout Hearing, at now: MonotonicInstant
    ) -> Change {
        hearing.setAvailable(gateway, isAvailable)
        // The broker notices late that a node is gone. A node announces itself once it is connected: it was restarted, or had no connection.
        if !hearing.gateways[gateway].sendsAlways { forgetListening(of: gateway, hearing, at: now) }
        return isAvailable ? Change() : setListening(gateway, false, &hearing, at: now)
    }

    /// Records whether the gateway listens.
    mutating func setListening(
        _ gateway: GatewayIndex, _ isListening: Bool, _ hearing: inout Hearing, at now: MonotonicInstant
    ) -> Change {
        guard hearing.setListening(gateway, isListening, at: now) else { return Change() }
        hearing.updateSilence(of: gateway)
        let changes = presence.setListening(gateway, isListening, at: now)
        return Change(isListeningChanged: true, arrived: take(changes, at: now))
    }

    /// What the gateway has heard since its last message is unknown, so that time does not count as silence.
    private mutating func forgetListening(of gateway: GatewayIndex, _ hearing: Hearing, at now: MonotonicInstant) {
        presence.forgetListening(of: gateway, after: hearing.gateways[gateway].listened, at: now)
    }

    /// Gateways that have sent nothing for too long count as no longer listening.
    mutating func endListening(_ hearing: inout Hearing, at now: MonotonicInstant) -> [(
        gateway: GatewayIndex, change: Change
    )] {
        hearing.removeSilent(at: now, isInterrupted: departures.isInterrupted).map { gateway in
            // What it heard without a connection is unknown. A node's time has begun again since (`setConnected`).
            let state = hearing.gateways[gateway]
            if state.sendsAlways && departures.wasInterrupted(since: state.lastMessage)
                || state.missedTelemetry(at: now)
            {
                forgetListening(of: gateway, hearing, at: now)
            }
            return (gateway, setListening(gateway, false, &hearing, at: now))
        }
    }

    /// Records that the connection to the broker was lost or restored. While it is lost, no time of a node counts as silence of its tags.
    ///
    /// - Returns: The tags that came home.
    mutating func setConnected(_ isConnected: Bool, _ hearing: inout Hearing, at now: MonotonicInstant) -> [TagIndex] {
        departures.setConnected(isConnected, at: now)
        var arrived: [TagIndex] = []
        // The next message of an ibeacon-gateway shows by its number that messages were lost. Those of a node have none.
        for gateway in hearing.gateways.indices
        where hearing.gateways[gateway].isListening && !hearing.gateways[gateway].sendsAlways {
            forgetListening(of: gateway, hearing, at: now)
            arrived += take(presence.setListening(gateway, isConnected, at: now), at: now)
            guard isConnected else { continue }
            hearing.await(gateway, at: now)
            hearing.updateSilence(of: gateway)
        }
        return arrived
    }

    // MARK: Which tags exist

    /// The tags were replaced.
    ///
    /// - Parameter moved: The new index of each tag that stays.
    mutating func replaceTags(by tags: [TagDescription], moved: [TagIndex: TagIndex], at now: MonotonicInstant) {
        departures.move(to: moved)
        presence.replaceTags(by: tags, at: now)
    }

    /// Whether the tag is at home, or waits for the confirmation that it left.
    func isHome(_ tag: TagIndex, _ description: TagDescription) -> Bool {
        presence.isInside(description) || departures.contains(tag)
    }

    /// Sets which of these tags are phones. A phone may be silent for longer.
    ///
    /// - Returns: The tags that came home.
    mutating func setPhones(of tags: [TagDescription], at now: MonotonicInstant) -> [TagIndex] {
        take(presence.setPhones(of: tags, at: now), at: now)
    }

    /// These tags were at home when the service ended. They count as heard now.
    mutating func restore(_ home: [TagIndex], of tags: Tags, at now: MonotonicInstant) {
        let standIns = home.map { (tag: tags[$0].description, beacon: presence.standIn(for: $0, in: tags)) }
        presence.restore(standIns, at: now)
    }
}
