/// Which rows the broker's client has, and where in the outbox to go on.
struct Delivery {
    /// How many it may have at one time.
    var window = 0
    var handedOut: Set<Int64> = []
    /// Everything up to here has been looked at.
    private var cursor: Int64 = 0

    /// What was handed out is to be handed out again.
    mutating func startOver() {
        handedOut = []
        cursor = 0
    }

    /// Rows that were passed over may be ready now.
    mutating func lookAgain() {
        cursor = 0
    }

    /// Hands out rows that were committed just now, without reading them back.
    ///
    /// - Returns: false, and nothing is handed out, if something before them has not been looked at, or there is no
    ///   room for all.
    mutating func handOut(_ fresh: [OutboxRow]) -> Bool {
        guard let first = fresh.first, let last = fresh.last, cursor == first.id - 1,
            window - handedOut.count >= fresh.count
        else { return false }
        for row in fresh { handedOut.insert(row.id) }
        cursor = last.id
        return true
    }

    /// The next rows in order, as many as the window has room for.
    ///
    /// - Parameters:
    ///   - end: The first row that is not committed.
    ///   - withheld: Rows that are done with and not deleted yet.
    mutating func next(
        from database: borrowing Database, before end: Int64, except withheld: Set<Int64>
    ) throws(DatabaseError) -> [OutboxRow] {
        let room = window - handedOut.count
        guard room > 0, cursor < end - 1 else { return [] }
        let (skipped, start) = (handedOut.union(withheld), cursor)
        var rows: [OutboxRow] = []
        try Outbox.forEachDeliverable(after: start, before: end, in: database) { row in
            if !skipped.contains(row.id) { rows.append(row) }
            return rows.count < room
        }
        // With room left, all were looked at: what was passed over comes back by `lookAgain`.
        cursor = rows.count < room ? max(start, end - 1) : rows.last?.id ?? start
        handedOut.formUnion(rows.map(\.id))
        return rows
    }
}
