import Base
import GatewayEntities
import Messaging
import Status

/// Sends the feed for Home Assistant, a few messages at a time.
///
/// These messages do not go through the outbox: they are made again for every connection, and signals that change every
/// half minute would wear out an SD card.
struct HomeAssistantSender {
    /// Unacknowledged messages at one time, well below the limit of the connection.
    static let window = 64
    /// Messages that may wait when an update adds its own.
    private static let mostWaiting = 1_000

    private var feed: HomeAssistantFeed
    private(set) var isConnected = false
    private(set) var subscriptions: Set<String>
    private var isSoon = false
    private var waiting: [Publication] = []
    private var nextIndex = 0
    private var unanswered: Set<SideToken> = []
    /// Requests of users: a selector of many trackers may send one for each.
    private var requests = RateBucket(capacity: 60, period: .seconds(1))
    private var tokens = SideTokens(.homeAssistant)

    init(_ settings: HomeAssistantFeed.Settings) {
        feed = HomeAssistantFeed(settings)
        subscriptions = Set(feed.subscriptions)
    }

    var settings: HomeAssistantFeed.Settings { feed.settings }

    /// - Returns: false: these settings need a new sender.
    mutating func change(to settings: HomeAssistantFeed.Settings) -> Bool {
        guard feed.change(to: settings) else { return false }
        subscriptions = Set(feed.subscriptions)
        return true
    }

    /// Removes and returns the former devices of which nothing is left.
    mutating func drainFinished() -> [String] { feed.drainFinished() }

    mutating func connected() {
        isConnected = true
        forget()
        feed.connected()
    }

    mutating func disconnected() {
        isConnected = false
        forget()
    }

    /// Waiting messages are made again for the next connection. Messages that were handed over stay with the
    /// connection.
    private mutating func forget() {
        (waiting, nextIndex) = ([], 0)
    }

    /// Whether a message is on one of the subscriptions.
    func takes(_ topic: String) -> Bool { subscriptions.contains { TopicFilter.matches($0, topic) } }

    mutating func received(_ message: ReceivedMessage, at now: MonotonicInstant) -> HomeAssistantFeed.Request? {
        feed.received(
            topic: message.topic, payload: String(decoding: message.payload, as: UTF8.self),
            isRetained: message.retained, at: now)
    }

    /// Whether a message has come since the last update that needs one.
    var needsUpdate: Bool { feed.needsUpdate }

    /// Whether one more request is carried out.
    mutating func admitsRequest(at now: MonotonicInstant) -> Bool { requests.admits(at: now) }

    mutating func update(_ snapshot: StatusSnapshot) {
        isSoon = false
        // One round at a time: what waits is sent first. The next periodic update makes up for this one.
        guard waiting.count - nextIndex < Self.mostWaiting else { return }
        // A waiting message may be outdated, but its successor follows it.
        waiting += feed.update(snapshot)
    }

    /// Whether an update must follow soon, and none was announced yet.
    mutating func wantsSoon() -> Bool {
        defer { isSoon = true }
        return isConnected && !isSoon
    }

    mutating func answered(_ token: SideToken) { unanswered.remove(token) }

    /// Hands over as many messages as the window allows.
    ///
    /// - Parameter publish: Returns false if the connection takes no more.
    mutating func send(_ publish: (Publication, SideToken) -> Bool) {
        while nextIndex < waiting.count, unanswered.count < Self.window {
            let token = tokens.next()
            guard publish(waiting[nextIndex], token) else { return }
            unanswered.insert(token)
            nextIndex += 1
        }
        if nextIndex == waiting.count { forget() }
    }
}
