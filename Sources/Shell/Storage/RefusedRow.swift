import Base

/// A publication that was not delivered, because the broker refused it or because it was damaged.
package struct RefusedRow: Hashable, Sendable {
    /// Its instant and boot are those of the refusal. (Those of the message are not needed any more: a message is not
    /// delivered before its times are written into it.)
    package let row: OutboxRow
    package let reason: String
}

extension RefusedRow {
    /// A row of the outbox that is refused now.
    init(_ row: OutboxRow, reason: String, boot: String, at now: MonotonicInstant) {
        var publication = row.publication
        publication.happened = now
        self.init(row: OutboxRow(id: row.id, publication: publication, boot: boot), reason: reason)
    }
}
