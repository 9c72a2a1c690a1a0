/// The candidate that is nearest to a misspelt word; nil if none is near enough.
package func suggestion(for word: String, among candidates: some Sequence<String>) -> String? {
    let written = Array(word.lowercased().utf8)
    // Longer words are not compared: the cost grows with the square of the length.
    guard !written.isEmpty, written.count <= 64 else { return nil }
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
        let distance = editDistance(written, Array(candidate.lowercased().utf8))
        if distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    guard let best, best.distance <= max(1, min(3, written.count / 2)) else { return nil }
    return best.candidate
}

/// `; did you mean 'list'?`, for the end of an error; empty if no known word is similar.
package func hint(for word: String, among known: [String]) -> String {
    suggestion(for: word, among: known).map { "; did you mean '\($0)'?" } ?? ""
}

/// Insertions, removals, replacements and swaps of neighbours between two words (optimal string
/// alignment).
package func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    var beforePrevious: [Int] = []
    var previous = Array(0...b.count)
    for i in 1...a.count {
        var current = [i]
        current.reserveCapacity(b.count + 1)
        for j in 1...b.count {
            let replacement = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
            var distance = min(replacement, previous[j] + 1, current[j - 1] + 1)
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                distance = min(distance, beforePrevious[j - 2] + 1)
            }
            current.append(distance)
        }
        (beforePrevious, previous) = (previous, current)
    }
    return previous[b.count]
}
