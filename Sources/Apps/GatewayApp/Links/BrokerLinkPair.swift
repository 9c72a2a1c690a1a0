package import Base
import Messaging
package import Shell
import System

/// The two connections of the gateway as two links: that for everything of OwnTracks, and that of the availability. With a broker
/// that admits one connection only, the second link goes over the first connection (`SecondConnectionWatch`).
///
/// What is lost then is the retained "offline" at an irregular end: a connection has one will, and the first has that of OwnTracks.
package final class BrokerLinkPair {
    /// Makes a wake-up: calls its argument later, on the same thread.
    package typealias WakeUp = (@escaping () -> Void) throws -> () -> Void

    private let connections: [any BrokerLink]
    private let wakeUp: WakeUp
    private let now: () -> MonotonicInstant
    private var watch = SecondConnectionWatch()
    fileprivate private(set) var isShared = false
    private var filters: [Set<String>] = [[], []]
    /// Events of the first connection for the second link.
    private var events: [BrokerEvent] = []
    private var wakeSecond: (() -> Void)?
    /// Why the broker admits one connection only.
    private var reason = ""
    /// The tokens of the second link's messages on the first connection, far from those of the service.
    private var tokens: [Int64: MessageToken] = [:]
    private var lastToken = Int64.min
    /// Of the messages on the second connection that are not answered yet.
    private var unanswered: Set<Int64> = []
    fileprivate var secondSettings: BrokerSettings?

    /// - Parameter now: Reads CLOCK_BOOTTIME; nil: the machine's.
    package init(
        first: any BrokerLink, second: any BrokerLink, wakeUp: @escaping WakeUp,
        now: (() -> MonotonicInstant)? = nil
    ) {
        (connections, self.wakeUp, self.now) = ([first, second], wakeUp, now ?? { Clocks.now() })
    }

    /// A link for everything of OwnTracks.
    package var first: any BrokerLink { FirstLink(self) }
    /// A link for the availability.
    package var second: any BrokerLink { SecondLink(self) }

    fileprivate var firstConnection: any BrokerLink { connections[0] }
    fileprivate var secondConnection: any BrokerLink { connections[1] }

    // MARK: The first link

    fileprivate func openFirst(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws {
        (isShared, watch, tokens, events) = (false, SecondConnectionWatch(), [:], [])
        self.filters[0] = filters
        try firstConnection.open(settings, filters: filters, read: read, onEvents: onEvents)
    }

    fileprivate func drainFirst() -> [BrokerEvent] {
        var own: [BrokerEvent] = []
        for event in firstConnection.drainEvents() {
            if !isShared, let reason = watch.handleFirst(event, at: now()) { share(because: reason) }
            if isShared { split(event, &own) } else { own.append(event) }
        }
        if !events.isEmpty { wakeSecond?() }
        return own
    }

    // MARK: The second link

    fileprivate func openSecond(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws {
        secondSettings = settings
        self.filters[1] = filters
        unanswered = []
        wakeSecond = try wakeUp(onEvents)
        try secondConnection.open(settings, filters: filters, read: read, onEvents: onEvents)
    }

    fileprivate func drainSecond() -> [BrokerEvent] {
        var own: [BrokerEvent] = []
        for event in secondConnection.drainEvents() where !isShared {
            own.append(event)
            switch event {
            case .acknowledged(let token), .refused(let token, _): unanswered.remove(token.rawValue)
            default: break
            }
            if let reason = watch.handleSecond(event, at: now()) { share(because: reason) }
        }
        defer { events = [] }
        return own + events
    }

    fileprivate func subscribe(_ link: Int, to filters: Set<String>) {
        self.filters[link] = filters
        guard isShared else { return connections[link].subscribe(to: filters) }
        firstConnection.subscribe(to: self.filters[0].union(self.filters[1]))
    }

    fileprivate func publishSecond(_ publication: Publication, as token: MessageToken) -> Bool {
        guard isShared else {
            guard secondConnection.publish(publication, as: token) else { return false }
            unanswered.insert(token.rawValue)
            return true
        }
        lastToken += 1
        guard firstConnection.publish(publication, as: MessageToken(rawValue: lastToken)) else { return false }
        tokens[lastToken] = token
        return true
    }

    fileprivate func closeSecond(within limit: Duration) {
        // The messages of the second link leave with those of the first.
        secondConnection.close(within: isShared ? .zero : limit)
        wakeSecond = nil
    }

    fileprivate func retireSecond(within limit: Duration) {
        if !isShared { secondConnection.retire(within: limit) }
    }

    // MARK: One connection for both

    private func share(because reason: String) {
        (isShared, self.reason) = (true, reason)
        secondConnection.retire(within: .zero)
        firstConnection.subscribe(to: filters[0].union(filters[1]))
        // What the second connection still had is not sent, or not known to be: its owner makes it anew for the next one, and must not
        // wait for answers.
        events += unanswered.sorted(by: >).map { .refused(MessageToken(rawValue: $0), .late) }
        unanswered = []
        if firstConnection.isConnected { events.append(.connected(sessionPresent: false)) }
        events.append(refusal)
    }

    private var refusal: BrokerEvent {
        .refusal(
            Refused(
                .clientID, secondSettings?.clientID ?? "", on: secondSettings?.name ?? "", because: reason))
    }

    private func split(_ event: BrokerEvent, _ own: inout [BrokerEvent]) {
        switch event {
        case .connected:
            own.append(event)
            // The connection of the first link admits nothing of the second.
            events += [event, refusal]
        case .disconnected:
            own.append(event)
            events.append(event)
        case .message(let message):
            let isOf = filters.map { filters in filters.contains { TopicFilter.matches($0, message.topic) } }
            if isOf[1] { events.append(event) }
            if isOf[0] || !isOf[1] { own.append(event) }
        case .acknowledged(let token):
            guard let original = tokens.removeValue(forKey: token.rawValue) else { return own.append(event) }
            events.append(.acknowledged(original))
        case .refused(let token, let why):
            guard let original = tokens.removeValue(forKey: token.rawValue) else { return own.append(event) }
            events.append(.refused(original, why))
        case .moved, .decoded, .dropped, .postponed, .subscribed, .subscriptionRefused, .refusal, .admitted, .limited,
            .steppedAside, .wantsMessage, .answered:
            own.append(event)
        }
    }
}

private final class FirstLink: BrokerLink {
    private let pair: BrokerLinkPair

    init(_ pair: BrokerLinkPair) { self.pair = pair }

    var settings: BrokerSettings? { pair.firstConnection.settings }
    var isConnected: Bool { pair.firstConnection.isConnected }
    var droppedMessages: Int { pair.firstConnection.droppedMessages }

    func open(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws {
        try pair.openFirst(settings, filters: filters, read: read, onEvents: onEvents)
    }

    func subscribe(to filters: Set<String>) { pair.subscribe(0, to: filters) }
    func publish(_ publication: Publication, as token: MessageToken) -> Bool {
        pair.firstConnection.publish(publication, as: token)
    }
    func drainEvents() -> [BrokerEvent] { pair.drainFirst() }
    func close(within limit: Duration) { pair.firstConnection.close(within: limit) }
    func retire(within limit: Duration) { pair.firstConnection.retire(within: limit) }
}

private final class SecondLink: BrokerLink {
    private let pair: BrokerLinkPair

    init(_ pair: BrokerLinkPair) { self.pair = pair }

    var settings: BrokerSettings? { pair.secondSettings }
    var isConnected: Bool { pair.isShared ? pair.firstConnection.isConnected : pair.secondConnection.isConnected }
    var droppedMessages: Int { pair.secondConnection.droppedMessages }

    func open(
        _ settings: BrokerSettings, filters: Set<String>, read: MessageReading?, onEvents: @escaping () -> Void
    ) throws {
        try pair.openSecond(settings, filters: filters, read: read, onEvents: onEvents)
    }

    func subscribe(to filters: Set<String>) { pair.subscribe(1, to: filters) }
    func publish(_ publication: Publication, as token: MessageToken) -> Bool {
        pair.publishSecond(publication, as: token)
    }
    func drainEvents() -> [BrokerEvent] { pair.drainSecond() }
    func close(within limit: Duration) { pair.closeSecond(within: limit) }
    func retire(within limit: Duration) { pair.retireSecond(within: limit) }
}
