package import Base

/// A publication that is on the disk.
package struct OutboxRow: Hashable, Sendable {
    /// Grows with every message; the order of delivery.
    package let id: Int64
    package var publication: Publication
    /// The boot (`/proc/sys/kernel/random/boot_id`) whose clock `publication.happened` was read from.
    package let boot: String
}
