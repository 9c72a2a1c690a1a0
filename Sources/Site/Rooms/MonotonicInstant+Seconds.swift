import Base

/// The model computes with seconds in 32 bits. `Duration` has 128, and these run for each reading.
extension MonotonicInstant {
    func advanced(bySeconds seconds: Float) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: nanoseconds &+ Int64(seconds * 1e9))
    }

    func seconds(since earlier: MonotonicInstant) -> Float { Float(nanoseconds &- earlier.nanoseconds) * 1e-9 }
}
