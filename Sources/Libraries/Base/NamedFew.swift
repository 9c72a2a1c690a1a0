extension Collection where Element == String {
    /// Names for a sentence; of many, the first few: `a, b and 3 more`.
    ///
    /// - Parameters:
    ///   - most: The most that are named.
    ///   - separator: What stands between two names.
    ///   - and: What stands before the number of the others.
    package func namedFew(most: Int, separator: String = ", ", and: String = " and ") -> String {
        let shown = prefix(most).joined(separator: separator)
        return count > most ? "\(shown)\(and)\(count - most) more" : shown
    }
}
