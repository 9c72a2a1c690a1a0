/// Why root does not use a directory of another user, or a file in it.
package struct OwnershipError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
}
