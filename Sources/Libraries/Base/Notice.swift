/// A line for the log.
package struct Notice: Hashable, Sendable {
    package let priority: LogPriority
    package let text: String

    package init(_ priority: LogPriority, _ text: String) {
        self.priority = priority
        self.text = text
    }
}
