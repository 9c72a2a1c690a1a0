/// How long the readings of a tag have contradicted the floor on which it is reported.
struct FloorDoubt: Sendable {
    private var seconds: Float = 0
    /// Whether the tag may change the floor anywhere, until it has or the readings confirm its floor again.
    private(set) var isBroken = false

    /// - Parameter isContradicted: Whether the window speaks for another floor, to which the tag cannot go.
    mutating func weigh(isContradicted: Bool, elapsed: Float, _ tuning: FloorTuning) {
        seconds = min(tuning.lockSeconds, max(0, seconds + (isContradicted ? elapsed : -elapsed)))
        if seconds >= tuning.lockSeconds { isBroken = true }
        if seconds == 0 { isBroken = false }
    }

    mutating func end() { self = FloorDoubt() }
}
