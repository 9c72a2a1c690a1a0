/// A password or key. It is shown nowhere: not in logs, not in dumps, not in a debugger's summary.
package struct Secret: Hashable, Sendable {
    @ExactString private var text: String

    package init(_ text: String) { self.text = text }

    /// The text itself, for the one place that needs it.
    package var revealed: String { text }

    /// Bytes of UTF-8.
    package var byteCount: Int { text.utf8.count }

    /// What replaces it wherever settings are shown.
    package static let mask = "(hidden)"
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { Self.mask }
    package var debugDescription: String { Self.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
