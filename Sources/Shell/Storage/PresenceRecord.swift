package import Base

/// The stored presence.
package struct PresenceRecord: Hashable, Sendable {
    /// The version of `state`. The reader decides which versions it supports.
    package var version: Int64
    /// The engine's own form.
    package var state: [UInt8]
    /// The changes of later transitions, in their order: each is a value of `StoreChange.presenceChange`.
    package var changes: [[UInt8]] = []
    package var savedAt: MonotonicInstant
    /// The boot whose clock `savedAt`, and every instant in `state`, was read from. The store fills it in.
    package var boot: String

    package init(version: Int64, state: [UInt8], savedAt: MonotonicInstant, boot: String = "") {
        self.version = version
        self.state = state
        self.savedAt = savedAt
        self.boot = boot
    }
}
