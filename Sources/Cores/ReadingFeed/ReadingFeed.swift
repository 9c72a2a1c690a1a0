package import Base
package import Beacon
import SiteProtocol

/// Summarizes, for each second, the packets that this gateway received from the tags of a site, and from the other gateways of the
/// site that send a beacon (`SurveyBeacons`).
///
/// The rooms service decides from these readings in which room a tag is. The feed stores nothing and repeats nothing: a
/// reading that cannot be sent at once is useless. Without a list of tags the feed does nothing and needs no timer.
///
/// Memory is proportional to the number of tags and gateways, at most `mostTags` and `SurveyBeacons.mostGateways`. One input takes
/// constant time. The end of a second takes time proportional to the number of those heard in it.
package struct ReadingFeed: Sendable {
    /// Largest number of tags of a site. Tags beyond this number are ignored.
    package static let mostTags = FeedDecoder.mostTags
    /// Time after which a gateway that hears no tag publishes an empty list, so that the service knows it is alive.
    package static let keepalive: Duration = .seconds(10)
    /// For this long after a second in which a tag was heard, there is a message for each second. So the service learns soon
    /// that the tag, and not the gateway, has fallen silent.
    package static let attention: Duration = .seconds(30)
    /// Each reading covers one second.
    package static let period: Duration = .seconds(1)
    /// A message that is made later than this after it was due shows that the gateway stood still.
    private static let tolerance: Duration = .seconds(2)

    package enum Input: Sendable {
        /// Replaces the tags of the site, at most `mostTags`. Without a list (nil) the feed is off.
        ///
        /// - Parameter gateways: The beacons that other gateways send, which are reported like those of tags.
        case tags([BeaconID]?, gateways: [BeaconID] = [])
        /// A receiver started or stopped listening.
        case listening(Receiver, Bool)
        /// While the receiver listens, its radio is on for this share of the time, 0 … 1.
        case scanDuty(Receiver, Double)
        /// The total number of advertising reports of any kind from all receivers. It starts again when an adapter is
        /// removed.
        case reports(UInt64)
        /// A receiver heard an iBeacon.
        case sighting(Sighting)
        /// A beacon said something of its battery.
        case telemetry(BeaconTelemetry)
        /// Reports beacons other than tags, too, for this time, at most 300 s. Zero ends that.
        case nearby(Duration)
        /// Time passed.
        case tick
    }

    package enum Message: Hashable, Sendable {
        /// The payload of `ibeacon-rooms/<site>/heard/<gateway>`.
        case heard([UInt8])
        /// The payload of an ESPresense node about this beacon.
        case node(BeaconID, [UInt8])
        /// The strongest beacons of a second that are not tags; published only on request.
        case nearby([NearbyBeacon])
    }

    /// Chosen at random at each start of the program. It tells the service that `sequence` and the clock restarted.
    private let startID: String
    /// The number of the next message. A number that is left out tells the service that the time before that message is no silence
    /// of tags, as after a lost message.
    private var sequence: UInt64 = 0
    /// Of tags and, behind them, of gateways.
    private var tagIndices: [BeaconID: Int] = [:]
    /// How many of them are tags.
    private var tagCount = 0
    private var sums: [ReadingSum] = []
    /// Whether the site has a list of tags. If the list is empty, the messages only show that the gateway is alive.
    package private(set) var isOn = false
    /// Indices of the sums of tags heard in the current second.
    private var heard: [Int] = []
    /// Beginning of the current second.
    private var start = MonotonicInstant.zero
    private var lastMessage = MonotonicInstant.zero
    /// End of the last second in which a tag was heard; nil if none was heard since the list of tags arrived.
    private var lastHeard: MonotonicInstant?
    /// Reports since the previous message, and the latest known total.
    private var reports: UInt64 = 0
    private var allReports: UInt64 = 0
    private var radios = RadioTime()
    /// nil if no messages of an ESPresense node are made.
    private var node: NodeFeed?
    private var nearby = NearbyFeed()

    /// - Parameters:
    ///   - startID: Up to 32 characters that differ at each start.
    ///   - actsAsNode: Whether the messages of an ESPresense node are made, too.
    package init(startID: String, actsAsNode: Bool = false) {
        self.startID = startID
        node = actsAsNode ? NodeFeed() : nil
    }

    /// When `tick` is due; nil while the feed is off.
    package var nextDeadline: MonotonicInstant? {
        guard isOn else { return nil }
        return heard.isEmpty && nearby.isEmpty ? lastMessage.advanced(by: pause) : start.advanced(by: Self.period)
    }

    /// The time between two messages while no tag is heard.
    private var pause: Duration {
        guard let lastHeard, lastHeard.duration(to: lastMessage) < Self.attention else { return Self.keepalive }
        return Self.period
    }

    /// Whether the next input ends a second, and so may cause a message. The total of reports is passed before that input:
    /// otherwise a beacon heard before the tick would end the second with the total of ten seconds ago. A message with 0
    /// reports says that this gateway received nothing at all.
    ///
    /// - Parameter now: When that input is handled.
    package func endsSecond(at now: MonotonicInstant) -> Bool { isOn && start.duration(to: now) >= Self.period }

    /// Handles one input.
    ///
    /// - Returns: The messages to publish now, in order. There is more than one `heard` only if more than
    ///   `HeardMessage.mostBeacons` tags were heard in the second.
    package mutating func handle(_ input: Input, at now: MonotonicInstant) -> [Message] {
        if case .reports(let all) = input {
            reports &+= all >= allReports ? all - allReports : all
            allReports = all
            return []
        }
        let messages = isOn ? finishSeconds(before: now) : []
        switch input {
        case .tags(let tags, let gateways): setTags(tags, gateways, at: now)
        case .listening(let receiver, let isListening):
            radios.set(receiver, isListening: isListening, at: now)
        case .scanDuty(let receiver, let duty): radios.set(receiver, duty: duty, at: now)
        case .sighting(let sighting): add(sighting, at: now)
        case .telemetry(let telemetry): add(telemetry)
        case .nearby(let duration): if isOn { nearby.collect(for: duration, at: now) }
        case .reports, .tick: break
        }
        return messages
    }

    private mutating func setTags(_ tags: [BeaconID]?, _ gateways: [BeaconID], at now: MonotonicInstant) {
        var new: [BeaconID: Int] = [:]
        for tag in tags ?? [] where new.count < Self.mostTags && new[tag] == nil { new[tag] = new.count }
        let tagCount = new.count
        for gateway in gateways.prefix(SurveyBeacons.mostGateways) where tags != nil && new[gateway] == nil {
            new[gateway] = new.count
        }
        // A list that is sent again must not cost the sums of the current second.
        if isOn, tags != nil, tagCount == self.tagCount, new.keys == tagIndices.keys { return }
        if !isOn {
            start = now
            lastMessage = now
            reports = 0
            radios.restart(at: now)
            // Nobody knows what this gateway would have heard since the latest message.
            if tags != nil, sequence > 0 { sequence &+= 1 }
        }
        isOn = tags != nil
        if !isOn { nearby = NearbyFeed() }
        lastHeard = nil
        heard.removeAll(keepingCapacity: false)
        (tagIndices, self.tagCount) = (new, tagCount)
        sums = Array(repeating: ReadingSum(), count: tagIndices.count)
        node = node.map { _ in NodeFeed() }
        for (tag, index) in tagIndices { sums[index].beacon = tag }
    }

    private mutating func add(_ sighting: Sighting, at now: MonotonicInstant) {
        guard let index = tagIndices[sighting.beacon] else { return nearby.add(sighting) }
        if sums[index].count == 0 { heard.append(index) }
        sums[index].add(sighting, at: now)
    }

    /// A battery alone causes no message: it goes with the next reading of the tag. What only may be a battery is left out.
    private mutating func add(_ telemetry: BeaconTelemetry) {
        guard telemetry.isCertain, let index = tagIndices[telemetry.beacon] else { return }
        sums[index].battery = telemetry.battery.percent
    }

    /// Ends the current second if it is over. Seconds without packets are skipped.
    private mutating func finishSeconds(before now: MonotonicInstant) -> [Message] {
        let elapsed = start.duration(to: now)
        guard elapsed >= Self.period else { return [] }
        if let due = nextDeadline, due.duration(to: now) > Self.tolerance { sequence &+= 1 }
        var messages: [Message] = []
        if !heard.isEmpty {
            lastHeard = start.advanced(by: Self.period)
            messages = message(at: start.advanced(by: Self.period))
        }
        let others = nearby.finish(at: start.advanced(by: Self.period))
        let seconds = elapsed.nanoseconds / Self.period.nanoseconds
        // An empty message covers the last complete second.
        radios.advance(to: start.advanced(by: Self.period * Int(clamping: seconds - 1)), restarting: true)
        start = start.advanced(by: Self.period * Int(clamping: seconds))
        if messages.isEmpty, lastMessage.duration(to: start) >= pause { messages = message(at: start) }
        radios.advance(to: start, restarting: true)
        return others.isEmpty ? messages : messages + [.nearby(others)]
    }

    private mutating func message(at end: MonotonicInstant) -> [Message] {
        radios.advance(to: end, restarting: false)
        let header = HeardMessage.Header(startID: startID, at: end, listened: radios.listened, reports: reports)
        let payloads = HeardMessage.payloads(header, firstSequence: sequence, heard.map { sums[$0].entry })
        sequence &+= UInt64(payloads.count)
        let messages =
            payloads.map { .heard($0) }
            + (node?.messages(heard.filter { $0 < tagCount }.map { ($0, sums[$0]) }, at: end) ?? [])
        for index in heard { sums[index].clear() }
        heard.removeAll(keepingCapacity: true)
        reports = 0
        lastMessage = end
        return messages
    }
}
