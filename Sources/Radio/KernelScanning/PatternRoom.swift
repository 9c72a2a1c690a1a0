/// How many patterns a controller that matches them itself has room for. Nothing tells it, so that it is found out by asking.
///
/// All patterns are asked for first. If they are refused, the first alone is, because the refusal may have another reason; then the
/// largest number is found that is accepted.
struct PatternRoom: Equatable {
    /// The largest number that was accepted.
    private var accepted = 0
    /// The smallest number that was refused; nil: none was.
    private var refused: Int?

    /// Whether no larger number is to be tried.
    private var isKnown: Bool { refused.map { $0 - accepted <= 1 } ?? true }

    /// How many of the patterns to ask for, at least one.
    ///
    /// - Parameter wanted: The number of all.
    func next(of wanted: Int) -> Int {
        guard let refused else { return wanted }
        guard accepted > 0 else { return 1 }
        return isKnown ? accepted : (accepted + refused) / 2
    }

    /// - Returns: Whether a larger number is to be tried.
    mutating func accept(_ count: Int) -> Bool {
        accepted = max(accepted, count)
        return !isKnown
    }

    /// - Returns: Whether a smaller number is to be tried.
    mutating func refuse(_ count: Int) -> Bool {
        guard count > 1 else { return false }
        refused = min(refused ?? count, count)
        // What was accepted before may be refused now.
        if accepted >= count { accepted = 0 }
        return true
    }
}
