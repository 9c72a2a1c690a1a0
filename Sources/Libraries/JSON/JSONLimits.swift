/// The limits of a text. Text from the broker is not trusted.
package struct JSONLimits: Sendable {
    package var bytes = 8 << 20
    /// How deep arrays and objects are nested.
    package var nesting = 64
    /// Values of every kind, including arrays and objects. 10,000 regions with ten members each are half of it.
    package var values = 200_000

    package init() {}
}
