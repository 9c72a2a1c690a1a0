/// The limits of a document: what a person writes stays far below them.
package enum YAMLLimits {
    package static let bytes = 65_536
    package static let nodes = 10_000
    package static let depth = 32
}
