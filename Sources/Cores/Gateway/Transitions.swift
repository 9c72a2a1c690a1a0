import Base
import Configuration
import Presence

/// Decided transitions that are not carried out yet: one turn of them is carried out with the input itself, and the others in later
/// turns.
///
/// All transitions of a turn change the trackers before the first message is made, so that each location shows the state after the
/// turn: a tracker with `away` that leaves its last two regions at once would otherwise be at the gateway again between the two
/// leaves. Each function that takes a turn changes the trackers, and returns the transitions to be published.
struct Transitions: Sendable {
    /// The turns that are carried out when the service ends. The store takes about ten thousand messages and entries of the history
    /// in one decision, so there is a limit.
    static let lastTurns = 15

    private var queue = TurnQueue<PendingTransition>(turn: 100, pause: .milliseconds(5))

    /// When the next turn is due; nil: no transition waits.
    var due: MonotonicInstant? { queue.due }

    mutating func add(_ transitions: [PendingTransition]) { queue.add(transitions) }

    /// The turn that is carried out with the input: none if others wait.
    mutating func begin(changing trackers: inout Trackers, by messages: Messages) -> [PendingTransition] {
        apply(queue.begin(at: messages.now), to: &trackers, by: messages)
    }

    /// The turn that is due.
    mutating func nextIfDue(changing trackers: inout Trackers, by messages: Messages) -> [PendingTransition] {
        apply(queue.nextIfDue(at: messages.now), to: &trackers, by: messages)
    }

    /// The next turn, whether it is due or not.
    mutating func next(changing trackers: inout Trackers, by messages: Messages) -> [PendingTransition] {
        apply(queue.next(at: messages.now), to: &trackers, by: messages)
    }

    private mutating func apply(
        _ turn: [PendingTransition], to trackers: inout Trackers, by messages: Messages
    ) -> [PendingTransition] {
        let (standing, now) = (messages.settings.position, messages.now)
        for transition in turn { queue.add(trackers.apply(transition, standing: standing, at: now)) }
        // The transition of a beacon may have moved its tracker across circles.
        let crossings = queue.begin(at: now)
        for transition in crossings { queue.add(trackers.apply(transition, standing: standing, at: now)) }
        return turn + crossings
    }

    /// The trackers have other indices now.
    ///
    /// - Parameter newIndices: The new index of each tracker by its old one. Transitions of others are dropped.
    mutating func moveTrackers(to newIndices: [Int: Int]) {
        queue.replace { transition in
            newIndices[transition.key.tracker].map { transition.moved(to: $0) }
        }
    }
}
