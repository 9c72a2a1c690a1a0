/// How JSON text is written.
package enum JSONDialect: Sendable {
    /// RFC 8259, for text from the broker.
    case json
    /// JSON5, for text that a person writes, with comments, trailing commas and bare member names.
    case json5
}
