package import Base

/// A line for the log.
package struct LogEntry: Hashable, Sendable {
    package let priority: LogPriority
    /// The kind of the line, for rate limits and for searching: `command-refused`.
    package let kind: String
    package let text: String
    /// Whose line it is, such as the base topic of a tracker: the rate limits of one do not hide the lines of another.
    package let scope: String
    /// Structured fields of the journal: `IBEACON_REGION` and its value.
    package let fields: [String: String]

    package init(
        _ priority: LogPriority, _ kind: String, _ text: String, of scope: String = "", fields: [String: String] = [:]
    ) {
        self.scope = scope
        self.priority = priority
        self.kind = kind
        self.text = text
        self.fields = fields
    }
}
