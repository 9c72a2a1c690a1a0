import Beacon
import Gateway
import HomeAssistant
import Messaging
import Runtime
import Status

/// Carries what Home Assistant is to know to the connection that holds the availability, a few messages
/// at a time.
///
/// None of it goes through the outbox: it is made anew for every connection, and signals that change every
/// half minute would wear out a card.
struct HomeAssistantLink {
    /// Messages with the broker at one time, well below what the connection takes.
    private static let window = 64

    let settings: HomeAssistantFeed.Settings
    /// Now and then.
    let timer: any ServiceTimer
    /// After a change that a user has asked for.
    let soon: any ServiceTimer
    private var feed: HomeAssistantFeed
    private(set) var isConnected = false
    private var isSoon = false
    private var waiting: [HomeAssistantMessage] = []
    private var position = 0
    private var unanswered: Set<Int64> = []
    /// 0 is the availability's own.
    private var nextToken: Int64 = 1

    init(_ settings: HomeAssistantFeed.Settings, timer: any ServiceTimer, soon: any ServiceTimer) {
        self.settings = settings
        self.timer = timer
        self.soon = soon
        feed = HomeAssistantFeed(settings)
    }

    var subscriptions: Set<String> { Set(feed.subscriptions) }

    mutating func connected() {
        isConnected = true
        forget()
        feed.connected()
    }

    mutating func disconnected() {
        isConnected = false
        forget()
    }

    /// What waits is made anew at the next connection. What was handed over stays with the connection.
    private mutating func forget() {
        (waiting, position) = ([], 0)
    }

    mutating func received(_ message: ReceivedMessage) -> HomeAssistantFeed.Request? {
        feed.received(
            topic: message.topic, payload: String(decoding: message.payload, as: UTF8.self),
            isRetained: message.retained)
    }

    mutating func update(_ snapshot: StatusSnapshot) {
        isSoon = false
        // What waits may be out of date, but its successor comes behind it.
        waiting += feed.update(snapshot)
    }

    /// Whether `soon` is to be armed now.
    mutating func wantsSoon() -> Bool {
        defer { isSoon = true }
        return isConnected && !isSoon
    }

    mutating func answered(_ token: MessageToken) { unanswered.remove(token.rawValue) }

    /// Hands over as much as there is room for.
    mutating func send(by connection: any BrokerLink) {
        while position < waiting.count, unanswered.count < Self.window {
            let message = Messaging.OutgoingMessage(
                token: MessageToken(rawValue: nextToken), topic: waiting[position].topic,
                payload: Array(waiting[position].payload.utf8), qos: .atLeastOnce, retain: true)
            guard connection.publish(message) else { return }
            unanswered.insert(nextToken)
            nextToken += 1
            position += 1
        }
        if position == waiting.count { forget() }
    }
}
