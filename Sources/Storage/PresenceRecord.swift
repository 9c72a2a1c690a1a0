package import Base

/// What the presence engine wants to find again after a restart.
package struct PresenceRecord: Hashable, Sendable {
    /// Of the form of `state`. The reader decides which it understands.
    package var version: Int64
    /// The engine's own form.
    package var state: [UInt8]
    /// What transitions changed since, in their order: each is a value of `StoreChange.presenceChange`.
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
