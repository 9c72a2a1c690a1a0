import Regions

extension PastTransition.Event {
    /// The number in the column `event`.
    var number: Int64 { self == .enter ? 0 : 1 }
}
