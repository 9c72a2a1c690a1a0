/// The search for one text within another, code unit by code unit. The standard library offers the same for whole strings
/// (`contains(_:)`, `firstRange(of:)`) in its module `_StringProcessing`: a single use of it links the engine of regular expressions,
/// which is 1.3 MB of the program. `Scripts/validate` looks for it.
extension Collection where Element: Equatable {
    /// Where `part` begins for the first time; nil if it does not occur. An empty part begins at the start.
    /// - Complexity: The product of both lengths; both are short here.
    package func firstIndex<Part: Collection<Element>>(ofPart part: Part) -> Index? {
        var rest = self[...]
        while true {
            if rest.starts(with: part) { return rest.startIndex }
            guard !rest.isEmpty else { return nil }
            rest.removeFirst()
        }
    }
}

extension StringProtocol {
    /// Whether `part` occurs in the text, with the same code units. Unlike `contains(_:)` it does not take two spellings of one letter
    /// for the same.
    package func hasPart(_ part: String) -> Bool { utf8.firstIndex(ofPart: part.utf8) != nil }
}
