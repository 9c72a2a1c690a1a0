/// A level in dBm, or none, in the size of a `Float`: there is one for each gateway of a site, and those that matter are read for each window.
struct OptionalLevel: Sendable, BitwiseCopyable {
    /// NaN represents none. It does not leave this type.
    private var value: Float

    init(_ dBm: Float?) { value = dBm ?? .nan }

    static let none = OptionalLevel(nil)

    var dBm: Float? { value.isNaN ? nil : value }

    /// Whether there is a level, and no more than this, dBm.
    func isAtMost(_ level: Float) -> Bool { value <= level }
}
