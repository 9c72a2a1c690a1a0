import Base

/// A value as SQLite knows it.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Any integer that 64 bits hold.
    static func number(_ value: some BinaryInteger) -> SQLValue { .integer(Int64(value)) }
    static func flag(_ value: Bool) -> SQLValue { .integer(value ? 1 : 0) }
    static func optional(_ value: (some BinaryInteger)?) -> SQLValue { value.map { .integer(Int64($0)) } ?? .null }
    static func optional(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }

    var asInteger: Int64? { if case .integer(let value) = self { value } else { nil } }
    var asReal: Double? { if case .real(let value) = self { value } else { nil } }
    var asText: String? { if case .text(let value) = self { value } else { nil } }
    var asBlob: [UInt8]? { if case .blob(let value) = self { value } else { nil } }
}

extension WallStamp {
    /// The condition for rows without a time. SQLite uses the partial indexes of such rows only for a constant.
    static let isMissing = "stamp = \(provisional.rawValue)"
}
