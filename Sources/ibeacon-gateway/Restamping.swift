internal import OwnTracks
internal import Storage

/// Puts the right times into a message that was made before the wall clock was known.
///
/// - Returns: nil if the payload is no JSON object; it is then sent as it is.
func restamped(_ restamp: Restamp) -> [UInt8]? {
    guard let json = try? JSONValue(parsing: restamp.message.payload), var members = json.object else { return nil }
    if members["tst"] != nil {
        members["tst"] = .integer(restamp.happened)
        // The same rule as for messages whose time was known at once.
        if restamp.renderedAt > restamp.happened + 1 { members["created_at"] = .integer(restamp.renderedAt) }
    }
    if members["since"] != nil { members["since"] = .integer(restamp.happened) }
    return JSONValue.object(members).bytes
}
