/// All errors of a configuration, so that they can be corrected together.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty.
    package let problems: [ConfigurationProblem]

    /// One line for each problem.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
