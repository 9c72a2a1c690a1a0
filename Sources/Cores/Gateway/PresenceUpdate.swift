/// Presence as it is to be stored.
package enum PresenceUpdate: Hashable, Sendable {
    /// Replaces what was stored before. For `KeptPresence(bytes:)`.
    case whole([UInt8])
    /// Is stored beside the last whole state and the changes since. For `KeptPresence(bytes:changes:)`.
    case change([UInt8])
}
