/// What this program is called and which one it is.
package enum Program {
    package static let version = "0.1.0"
}
