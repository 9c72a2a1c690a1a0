import Base
import Gateway
import GatewayEntities
import Messaging
import Shell
import Status

/// Publishes the feed for Home Assistant on the connection of the availability, a few messages at a time.
///
/// These messages do not go through the outbox: they are made again for every connection, and signals that change every
/// half minute would wear out an SD card.
struct HomeAssistantLink {
    /// Unacknowledged messages at one time, well below the limit of the connection.
    private static let window = 64
    /// Messages that may wait when an update adds its own.
    private static let mostWaiting = 1_000

    /// Publishes periodic updates.
    let timer: any ServiceTimer
    /// Publishes soon after a change that a user requested.
    let soon: any ServiceTimer
    private var feed: HomeAssistantFeed
    private(set) var isConnected = false
    private var isSoon = false
    private var waiting: [Publication] = []
    private var position = 0
    private var unanswered: Set<Int64> = []
    /// Requests of users: a selector of many trackers may send one for each.
    private var requests = RateBucket(capacity: 60, period: .seconds(1))
    /// 0 belongs to the availability.
    private var nextToken: Int64 = 1

    init(_ settings: HomeAssistantFeed.Settings, timer: any ServiceTimer, soon: any ServiceTimer) {
        self.timer = timer
        self.soon = soon
        feed = HomeAssistantFeed(settings)
    }

    var settings: HomeAssistantFeed.Settings { feed.settings }
    var subscriptions: Set<String> { Set(feed.subscriptions) }

    /// - Returns: false: these settings need a new link.
    mutating func change(to settings: HomeAssistantFeed.Settings) -> Bool { feed.change(to: settings) }

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
        (waiting, position) = ([], 0)
    }

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
        guard waiting.count - position < Self.mostWaiting else { return }
        // A waiting message may be outdated, but its successor follows it.
        waiting += feed.update(snapshot)
    }

    /// Whether `soon` must be armed now.
    mutating func wantsSoon() -> Bool {
        defer { isSoon = true }
        return isConnected && !isSoon
    }

    mutating func answered(_ token: MessageToken) { unanswered.remove(token.rawValue) }

    /// Hands over as many messages as the window allows.
    mutating func send(by connection: any BrokerLink) {
        while position < waiting.count, unanswered.count < Self.window {
            guard connection.publish(waiting[position], as: MessageToken(rawValue: nextToken)) else { return }
            unanswered.insert(nextToken)
            nextToken += 1
            position += 1
        }
        if position == waiting.count { forget() }
    }
}
