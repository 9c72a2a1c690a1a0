/// The name and the version of this program.
package enum Program {
    package static let version = "1.0.0"
}
