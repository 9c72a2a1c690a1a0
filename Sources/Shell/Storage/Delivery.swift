import Base

/// Rows of the outbox that the broker's client has, with the bytes of their payloads.
typealias HandedOut = [Int64: Int]

/// Which rows the broker's client has, and where in the outbox to go on.
struct Delivery {
    /// The limit of rows that the client has at one time.
    var window = 0
    private(set) var handedOut = HandedOut()
    /// How often the client has lost its rows, as its owner counts.
    private(set) var generation = 0
    /// All rows up to here were examined.
    private var cursor: Int64 = 0

    /// Delivered rows must be delivered again.
    mutating func startOver(as generation: Int) {
        self.generation = generation
        handedOut = HandedOut()
        cursor = 0
    }

    /// The broker has acknowledged or refused the row.
    ///
    /// - Returns: The bytes of its payload; nil if the row was not delivered.
    mutating func removeHandedOut(_ id: Int64) -> Int? { handedOut.removeValue(forKey: id) }

    /// Skipped rows may be ready now.
    mutating func lookAgain() {
        cursor = 0
    }

    /// Delivers rows that were committed just now, without reading them back.
    ///
    /// - Returns: false, and nothing is delivered, if earlier rows were not examined yet, or there is no room for all.
    mutating func handOut(_ fresh: [OutboxRow]) -> Bool {
        guard let first = fresh.first, let last = fresh.last, cursor == first.id - 1,
            window - handedOut.count >= fresh.count
        else { return false }
        for row in fresh { handedOut[row.id] = row.publication.payload.count }
        cursor = last.id
        return true
    }

    /// The next rows in order, as many as the window has room for.
    ///
    /// - Parameters:
    ///   - end: The first row that is not committed.
    ///   - withheld: Rows that are finished and not deleted yet.
    mutating func next(
        from database: borrowing Database, before end: Int64, except withheld: (Int64) -> Bool
    ) throws(DatabaseError) -> [OutboxRow] {
        let room = window - handedOut.count
        guard room > 0, cursor < end - 1 else { return [] }
        let (skipped, start) = (handedOut, cursor)
        var rows: [OutboxRow] = []
        try Outbox.forEachDeliverable(after: start, before: end, in: database) { row in
            if skipped[row.id] == nil, !withheld(row.id) { rows.append(row) }
            return rows.count < room
        }
        // With room left, all rows were examined. Skipped rows come back by `lookAgain`.
        cursor = rows.count < room ? max(start, end - 1) : rows.last?.id ?? start
        for row in rows { handedOut[row.id] = row.publication.payload.count }
        return rows
    }
}
