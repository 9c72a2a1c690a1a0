package import Base
package import JSON

/// Values as pages and programs receive them.
extension JSONValue {
    /// Characters of a name or a description. Names of 16 kB occur only in attacks.
    package static let shownCharacters = 200

    /// A count, limited to the largest integer that readers of JSON accept here (64 bits, signed).
    package static func count(_ value: UInt64) -> JSONValue { .integer(Int64(clamping: value)) }

    /// null for nil.
    package static func optional(_ value: JSONValue?) -> JSONValue { value ?? .null }

    package static func tenths(_ value: Double) -> JSONValue { .number((value * 10).rounded() / 10) }

    package static func hundredths(_ value: Double) -> JSONValue { .number((value * 100).rounded() / 100) }

    /// Seconds between `instant` and `now`, or null.
    package static func ago(_ instant: MonotonicInstant?, at now: MonotonicInstant) -> JSONValue {
        optional(instant.map { .tenths($0.duration(to: now).inSeconds) })
    }

    /// Text from outside, in a bounded length.
    package static func shown(_ text: String) -> JSONValue {
        let scalars = text.unicodeScalars.prefix(shownCharacters + 1)
        guard scalars.count > shownCharacters else { return .string(text) }
        return .string(String(String.UnicodeScalarView(scalars.dropLast())) + "…")
    }
}

/// The same values as another program receives them. What cannot have been written by these functions is no value.
extension JSONValue {
    /// The longest age that is read, seconds: 31 years.
    private static let longestAge: ClosedRange<Double> = 0...1e9

    /// What `count` wrote.
    package var asCount: UInt64? { whole(in: 0...Int64.max).map(UInt64.init) }

    /// A share that `hundredths` wrote, 0 … 1.
    package var asShare: Double? { number(in: 0...1) }

    /// A duration in seconds.
    package var asSeconds: Duration? { number(in: Self.longestAge).map { .seconds($0) } }

    /// What `ago` wrote.
    package func instant(before now: MonotonicInstant) -> MonotonicInstant? {
        asSeconds.map { now.advanced(by: .zero - $0) }
    }

    /// A time that is still to come, in seconds from now.
    package func instant(after now: MonotonicInstant) -> MonotonicInstant? { asSeconds.map { now.advanced(by: $0) } }
}
