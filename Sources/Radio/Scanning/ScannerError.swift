/// Why an interface to Bluetooth cannot work at all.
package struct ScannerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// A capability or right is missing.
        case permission
        /// The kernel or the machine lacks something.
        case unavailable
        /// The recording cannot be read.
        case badInput
    }

    package let kind: Kind
    /// What was wrong, where, and what to do.
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
