import Base

/// A removal that removed nothing.
public struct UnmatchedRemoval: Hashable, Sendable {
    /// Its `desc`, else its `rid`.
    public let name: String
    /// The `rid`s of the regions between which it could not decide; empty if none is meant.
    public let candidates: [String]
}

extension UnmatchedRemoval: CustomStringConvertible {
    /// What was wanted, and why nothing was removed, in one line.
    public var description: String {
        guard !candidates.isEmpty else { return "'\(name.shortened)' deletes nothing: there is no such region" }
        let rids = candidates.prefix(10).joined(separator: ", ")
        return
            "'\(name.shortened)' deletes nothing: \(candidates.count) regions may be meant; give the rid of one: \(rids)"
    }
}
