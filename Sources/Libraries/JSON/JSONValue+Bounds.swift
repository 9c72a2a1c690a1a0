/// Numbers that another program wrote. Whoever reads them says what is possible; anything else is no value.
extension JSONValue {
    /// A whole number in this range; nil for any other value.
    package func whole(in range: ClosedRange<Int64>) -> Int64? {
        asInteger.flatMap { range.contains($0) ? $0 : nil }
    }

    /// A finite number in this range; nil for any other value.
    package func number(in range: ClosedRange<Double>) -> Double? {
        asNumber.flatMap { range.contains($0) ? $0 : nil }
    }
}
