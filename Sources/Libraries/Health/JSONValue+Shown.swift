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
