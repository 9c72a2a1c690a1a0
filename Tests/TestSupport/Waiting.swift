import Glibc

extension Duration {
    /// How long a test waits for what must come. It only ends a test that fails, so it is long: a machine that also
    /// compiles, or whose disk is busy, can be many times slower.
    package static let patience: Duration = .seconds(180)
}

/// Asks again and again until something holds.
/// - Returns: false if it did not within `limit`.
package func eventually(within limit: Duration = .patience, _ holds: () throws -> Bool) rethrows -> Bool {
    let begin = ContinuousClock.now
    let end = begin.advanced(by: limit)
    while ContinuousClock.now < end {
        if try holds() { return true }
        // What takes longer than a second is asked for less often: the asking itself takes processor time.
        usleep(begin.duration(to: .now) < .seconds(1) ? 10_000 : 50_000)
    }
    return try holds()
}

/// Reads a value again and again until it is as expected.
/// - Returns: the value that was; if none was within `limit`, the last one, so that the expectations behind it fail and
///   show it.
package func eventual<Value>(
    within limit: Duration = .patience, _ read: () throws -> Value, until holds: (Value) throws -> Bool
) rethrows -> Value {
    var value = try read()
    _ = try eventually(within: limit) {
        if try holds(value) { return true }
        value = try read()
        return try holds(value)
    }
    return value
}
