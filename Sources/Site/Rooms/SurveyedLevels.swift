/// What the gateways of a site hear of each other, as far as the room engine uses it (`LevelSurvey.levels`).
package struct SurveyedLevels: Hashable, Sendable {
    /// The mean level of a sender at a receiver.
    package struct Pair: Hashable, Sendable {
        package let sender: String
        package let receiver: String
        /// dBm, as the receiver measures it, and as if all gateways sent alike.
        package let level: Float

        package init(sender: String, receiver: String, level: Float) {
            (self.sender, self.receiver, self.level) = (sender, receiver, level)
        }
    }

    package let pairs: [Pair]
    /// How much more each gateway measures than others, dB (`LevelSurvey.offsets`); 0 for all others.
    package let offsets: [String: Float]

    package init(pairs: [Pair] = [], offsets: [String: Float] = [:]) { (self.pairs, self.offsets) = (pairs, offsets) }

    /// Whether a level is another one by so many dB, or known where it was not, or what a gateway measures differs by half of that.
    package func differs(from other: Self, by least: Float) -> Bool {
        guard pairs.count == other.pairs.count,
            offsets.allSatisfy({ abs($0.value - (other.offsets[$0.key] ?? 0)) < least / 2 })
        else { return true }
        return zip(pairs, other.pairs).contains {
            $0.sender != $1.sender || $0.receiver != $1.receiver || abs($0.level - $1.level) >= least
        }
    }
}
