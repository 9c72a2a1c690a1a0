/// A failure that ends a command: a text for people, and a code for scripts.
package struct Failure: Error {
    package let code: ExitCode
    /// The mistake, its place, and what to do.
    package let message: String

    package init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }
}
