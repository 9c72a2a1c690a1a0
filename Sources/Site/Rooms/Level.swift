/// A level in dBm, or none, in the size of a `Float`: 250 of them are read for each window of a tag.
struct OptionalLevel: Sendable, BitwiseCopyable {
    /// NaN represents none. It does not leave this type.
    private var value: Float

    init(_ dBm: Float?) { value = dBm ?? .nan }

    static let none = OptionalLevel(nil)

    var dBm: Float? { value.isNaN ? nil : value }
}
