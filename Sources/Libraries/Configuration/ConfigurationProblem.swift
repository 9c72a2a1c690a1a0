/// One error in a configuration.
package struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The member with its path, such as `trackers[1].tid`; empty if the problem is the whole text.
    package let member: String
    /// What is wrong and what to write instead.
    package let reason: String

    package var description: String { member.isEmpty ? reason : "\(member): \(reason)" }
}

/// All errors of a configuration, so that they can be corrected together.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty.
    package let problems: [ConfigurationProblem]

    /// One line for each problem.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
