/// Rows of the outbox that the broker's client has, with the bytes of their payloads.
typealias HandedOut = [Int64: Int]

/// Which rows the broker's client has, and where in the outbox to go on.
struct Delivery {
    /// How many it may have at one time.
    var window = 0
    private(set) var handedOut = HandedOut()
    /// Everything up to here has been looked at.
    private var cursor: Int64 = 0

    /// What was handed out is to be handed out again.
    mutating func startOver() {
        handedOut = HandedOut()
        cursor = 0
    }

    /// The broker has it, or never will.
    ///
    /// - Returns: The bytes of its payload; nil if it was not handed out.
    mutating func removeHandedOut(_ id: Int64) -> Int? { handedOut.removeValue(forKey: id) }

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
        for row in fresh { handedOut[row.id] = row.message.payload.count }
        cursor = last.id
        return true
    }

    /// The next rows in order, as many as the window has room for.
    ///
    /// - Parameters:
    ///   - end: The first row that is not committed.
    ///   - withheld: Rows that are done with and not deleted yet.
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
        // With room left, all were looked at: what was passed over comes back by `lookAgain`.
        cursor = rows.count < room ? max(start, end - 1) : rows.last?.id ?? start
        for row in rows { handedOut[row.id] = row.message.payload.count }
        return rows
    }
}
