import Base

/// A row with an instant of a boot, whose wall-clock time is set as soon as it is known.
protocol Stampable {
    var happened: MonotonicInstant { get }
    /// Epoch seconds; means nothing while `stamp` is `provisional`.
    var timestamp: Int64 { get set }
    var stamp: WallStamp { get set }
}
