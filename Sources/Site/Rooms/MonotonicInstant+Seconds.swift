import Base

/// The model computes with seconds as `Float`. `Duration` has 128 bits, and these functions run for each reading.
extension MonotonicInstant {
    func advanced(bySeconds seconds: Float) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: nanoseconds &+ Int64(seconds * 1e9))
    }

    func seconds(since earlier: MonotonicInstant) -> Float { Float(nanoseconds &- earlier.nanoseconds) * 1e-9 }
}
