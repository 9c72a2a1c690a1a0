import JSON

extension Configuration {
    /// What to tell of members that stand twice in a file: nothing else shows that the first one has no effect.
    ///
    /// - Returns: Also empty if the text cannot be read.
    package static func repetitions(in text: some Collection<UInt8>) -> [ConfigurationProblem] {
        let repeated = (try? JSONValue.repeatedMembers(in: text, dialect: .json5)) ?? []
        return repeated.map { member in
            let place =
                member.firstLine == member.line
                ? "it stands twice on line \(member.line)"
                : "it stands on line \(member.firstLine) and again on line \(member.line)"
            return ConfigurationProblem(
                member: shortened(member.path), reason: "\(place); the last one counts, so remove the other")
        }
    }

    /// Warns of members that stand twice. It is no mistake: such a file was always taken, and a service with it goes on to start.
    package mutating func warn(of repetitions: [ConfigurationProblem]) { warnings = repetitions + warnings }
}
