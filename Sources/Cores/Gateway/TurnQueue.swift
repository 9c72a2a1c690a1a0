import Base

/// Work that is done in turns, so that even a large input does not delay the radio for long.
struct TurnQueue<Element: Sendable>: Sendable {
    /// Elements per turn.
    let turn: Int
    /// Time between two turns.
    let pause: Duration

    private var waiting: [Element] = []
    private var first = 0
    /// When the next turn is due; nil: no element waits.
    private(set) var due: MonotonicInstant?

    init(turn: Int, pause: Duration) {
        self.turn = turn
        self.pause = pause
    }

    /// Adds elements at the end.
    mutating func add(_ elements: [Element]) { waiting += elements }

    /// The elements that are handled with the input itself: the first turn, or none if a turn is pending.
    mutating func begin(at now: MonotonicInstant) -> [Element] { due == nil ? next(at: now) : [] }

    /// The elements that a tick handles: none before the next turn is due.
    mutating func nextIfDue(at now: MonotonicInstant) -> [Element] {
        guard let due, due <= now else { return [] }
        return next(at: now)
    }

    /// The elements of the next turn.
    mutating func next(at now: MonotonicInstant) -> [Element] {
        let end = min(first + turn, waiting.count)
        let elements = Array(waiting[first..<end])
        first = end
        guard first == waiting.count else {
            due = now.advanced(by: pause)
            return elements
        }
        (waiting, first, due) = ([], 0, nil)
        return elements
    }

    /// Replaces each element that waits; nil removes it.
    mutating func replace(_ transform: (Element) -> Element?) {
        waiting = waiting[first...].compactMap(transform)
        first = 0
        if waiting.isEmpty { due = nil }
    }
}
