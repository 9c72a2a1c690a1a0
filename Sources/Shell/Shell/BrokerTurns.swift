import Messaging

/// The events of the broker that wait, and the turns of the loop in which they are handled. Ten thousand messages may be waiting, and
/// timers, signals and the page are served between turns.
package struct BrokerTurns {
    /// After this time a turn leaves the remaining events to the next turn.
    static let longest = Duration.milliseconds(20)
    /// The time between two such turns. Without it the page, which is served when nothing else is ready, would wait until
    /// all messages are handled.
    static let pause = Duration.milliseconds(1)

    /// Events that are not handled yet.
    private var waiting: ArraySlice<BrokerEvent> = []
    /// Whether a turn is to come for the events that wait.
    package internal(set) var isToCome = false

    var isEmpty: Bool { waiting.isEmpty }
    /// The next event.
    var first: BrokerEvent? { waiting.first }

    /// Takes new events. Their mailbox is bounded, so they stay there until all earlier ones are handled.
    mutating func take(_ events: [BrokerEvent]) { waiting = events[...] }

    mutating func removeFirst() { waiting.removeFirst() }
}
