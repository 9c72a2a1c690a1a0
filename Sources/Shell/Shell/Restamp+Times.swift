import Base
import JSON
package import Storage

extension Restamp {
    /// The payload with the right times; nil if it has none.
    ///
    /// - Parameter createsRegions: Whether a region without a time was created by this transition.
    package func stamped(createsRegions: Bool = false) -> [UInt8]? {
        guard let json = try? JSONValue(parsing: publication.payload), var members = json.object else { return nil }
        if members["tst"] != nil {
            members["tst"] = .integer(happened)
            // The same rule as for messages whose time was known from the beginning.
            if renderedAt > happened + 1 { members["created_at"] = .integer(renderedAt) }
        }
        if let since = members["since"] {
            // Both are by the same clock.
            if let since = since.asInteger, let heard = members["lastHeard"]?.asInteger {
                members["lastHeard"] = .integer(heard &+ (happened &- since))
            }
            members["since"] = .integer(happened)
        }
        if createsRegions, members["wtst"] == .integer(0) { members["wtst"] = .integer(happened) }
        return JSONValue.object(members).bytes
    }
}
