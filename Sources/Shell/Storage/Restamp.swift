package import Base

/// A message that was made before the wall clock was known, with its times.
package struct Restamp: Sendable {
    package let publication: Publication
    /// When it happened, epoch seconds.
    package let happened: Int64
    /// When the message is rendered again, epoch seconds: for `created_at`.
    package let renderedAt: Int64
    /// `happened` was estimated across a restart of the machine.
    package let isEstimated: Bool
}
