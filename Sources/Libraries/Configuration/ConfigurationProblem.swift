/// One error in a configuration.
package struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The member with its path, such as `trackers[1].tid`; empty if the problem is the whole text.
    package let member: String
    /// What is wrong and what to write instead.
    package let reason: String

    package var description: String { member.isEmpty ? reason : "\(member): \(reason)" }
}
