/// One thing that is wrong with a configuration.
package struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The member with the path to it, such as `trackers[1].tid`; empty if it is the whole.
    package let member: String
    /// What is wrong and what to write instead.
    package let reason: String

    package var description: String { member.isEmpty ? reason : "\(member): \(reason)" }
}

/// Everything that is wrong with a configuration, so that it can be mended in one go.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty.
    package let problems: [ConfigurationProblem]

    /// One line for each problem.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
