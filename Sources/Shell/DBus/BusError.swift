/// Why there is no connection to a bus.
package struct BusError: Error, CustomStringConvertible {
    /// What was wrong, and what to do.
    package let description: String

    /// The bus has ended the connection.
    package static let gone = BusError(description: "the D-Bus system bus is gone")

    /// - Parameter reason: Why there is none.
    static func missing(_ reason: String) -> BusError {
        BusError(description: BusRefusal.connection(reason))
    }
}
