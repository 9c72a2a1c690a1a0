/// Why a text cannot be read as YAML.
package struct YAMLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// From 1; 0 if the whole text is meant.
    package let line: Int
    /// What is wrong, without words of the text, which may be secret.
    package let reason: String

    package init(line: Int, reason: String) {
        self.line = line
        self.reason = reason
    }

    package var description: String { line == 0 ? reason : "line \(line): \(reason)" }
}
