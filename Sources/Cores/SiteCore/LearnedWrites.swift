import Base

/// When the learned data is stored.
struct LearnedWrites: Sendable {
    /// Time between two writes.
    private static let period: Duration = .seconds(900)
    /// Shortest time between two writes after deletions.
    private static let forgettingPeriod: Duration = .seconds(5)
    /// Time from the end of a training run until what it brought is written: its last messages arrive meanwhile.
    private static let trainingRest: Duration = .seconds(5)

    /// When the next write is due; nil if nothing is stored.
    private(set) var due: MonotonicInstant?
    /// When learned data was last deleted.
    private var forgotten: MonotonicInstant?

    /// The learned data is stored from now on, or was stored now.
    ///
    /// - Parameter trainingEnds: When the training runs end.
    mutating func begin(at now: MonotonicInstant, _ trainingEnds: [MonotonicInstant] = []) {
        due = now.advanced(by: Self.period)
        expect(trainingEnds, at: now)
    }

    /// Lets the next write come soon after the next end of a training run: a walk is not to be lost with the power. A client may
    /// request any number of runs, so the rate is limited as after deletions.
    mutating func expect(_ trainingEnds: [MonotonicInstant], at now: MonotonicInstant) {
        let ends = trainingEnds.map { $0.advanced(by: Self.trainingRest) }
        guard let due, let end = ends.filter({ $0 > now }).min() else { return }
        self.due = min(due, max(end, now.advanced(by: Self.forgettingPeriod)))
    }

    /// A user deleted learned data, which is stored at once. All learned data is written for it, so the rate is limited: a client with
    /// the right to write cards must not cause endless writes.
    ///
    /// - Returns: Whether it is stored now; else it is due later.
    mutating func forget(at now: MonotonicInstant) -> Bool {
        guard due != nil else { return false }
        if let last = forgotten, last.duration(to: now) < Self.forgettingPeriod {
            due = last.advanced(by: Self.forgettingPeriod)
            return false
        }
        forgotten = now
        return true
    }
}
