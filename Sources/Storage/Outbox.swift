import Beacon

/// What is known of the outbox without asking the disk. A copy is changed during a transaction and
/// takes the place of the old one when it is committed.
struct OutboxBook {
    var nextID: Int64 = 1
    var rows = 0
    var bytes = 0
    /// Of `rows`, those that wait for the wall clock.
    var unstamped = 0
    /// What happened in the transaction under way.
    var superseded: UInt64 = 0
    var dropped = DropCounts()
    var refused: UInt64 = 0
}

/// The outbox table. Every function runs inside a transaction of the caller.
struct Outbox {
    let limit: Int
    let byteLimit: Int
    let refusedLimit: Int

    static func readBook(_ database: borrowing Database) throws(DatabaseError) -> OutboxBook {
        var book = OutboxBook()
        let sql = "SELECT count(*), total(length(payload)), coalesce(max(id), 0), count(*) FILTER (WHERE stamp = 0)"
        try database.forEachRow("\(sql) FROM outbox") { row throws(DatabaseError) in
            book.rows = Int(row[0].asInteger ?? 0)
            book.bytes = Int(row[1].asReal ?? 0)
            book.nextID = (row[2].asInteger ?? 0) + 1
            book.unstamped = Int(row[3].asInteger ?? 0)
            return false
        }
        let highestRefused = try database.value("SELECT max(id) FROM refused")?.asInteger ?? 0
        book.nextID = max(book.nextID, highestRefused + 1)
        return book
    }

    /// Adds a message at the end.
    ///
    /// - Parameter handedOut: Rows that the broker's client has; they are not touched.
    /// - Returns: Its row, or nil if there was no room for it.
    func add(
        _ message: OutgoingMessage, boot: String, handedOut: HandedOut, to database: borrowing Database,
        _ book: inout OutboxBook
    ) throws(DatabaseError) -> Int64? {
        if message.kind == .state {
            let older = try rows(
                "WHERE kind = 2 AND topic = ?1", [.text(message.topic)], in: database, except: handedOut)
            try delete(older, from: database, &book)
            book.superseded += UInt64(older.count)
        }
        guard try makeRoom(for: message, handedOut: handedOut, in: database, &book) else {
            book.dropped.count(message.kind)
            return nil
        }
        let row = OutboxRow(id: book.nextID, message: message, boot: boot)
        try database.insert(row)
        book.nextID += 1
        book.rows += 1
        book.bytes += message.payload.count
        if message.stamp == .provisional { book.unstamped += 1 }
        return row.id
    }

    /// The broker has them; so none waits for the wall clock.
    func acknowledge(
        _ rows: HandedOut, in database: borrowing Database, _ book: inout OutboxBook
    ) throws(DatabaseError) {
        try delete(rows.map { Key(id: $0.key, bytes: $0.value, isProvisional: false) }, from: database, &book)
    }

    /// Takes rows away that a failed transaction left, and their numbers with them.
    func remove(from id: Int64, in database: borrowing Database, _ book: inout OutboxBook) throws(DatabaseError) {
        try delete(rows("WHERE id >= ?1", [.integer(id)], in: database), from: database, &book)
        book.nextID = id
    }

    /// Sets a row aside; beyond the limit the oldest that was set aside is forgotten.
    func refuse(
        _ id: Int64, reason: String, in database: borrowing Database, _ book: inout OutboxBook
    ) throws(DatabaseError) {
        guard let row = try database.rows(OutboxRow.self, "WHERE id = ?1", .integer(id)).first else { return }
        try delete(rows("WHERE id = ?1", [.integer(id)], in: database), from: database, &book)
        try database.insert(RefusedRow(row: row, reason: reason))
        try database.run(
            "DELETE FROM refused WHERE id <= (SELECT id FROM refused ORDER BY id DESC LIMIT 1 OFFSET ?1)",
            .number(refusedLimit))
        book.refused += 1
    }

    /// Calls `body` with rows that may be delivered, in order, until it returns false: not those that
    /// wait for the wall clock, nor any behind one of those in the same topic.
    static func forEachDeliverable(
        after id: Int64, before end: Int64, in database: borrowing Database, _ body: (OutboxRow) -> Bool
    ) throws(DatabaseError) {
        let sql = """
            SELECT \(OutboxRow.columnList) FROM outbox WHERE id > ?1 AND id < ?2 AND stamp <> 0 AND NOT EXISTS
            (SELECT 1 FROM outbox AS earlier WHERE earlier.stamp = 0 AND earlier.topic = outbox.topic
            AND earlier.id < outbox.id) ORDER BY id
            """
        try database.forEachRow(sql, [.integer(id), .integer(end)]) { statement throws(DatabaseError) in
            guard let row = OutboxRow(statement) else { throw .damaged("a row of outbox is not what was written") }
            return body(row)
        }
    }

    /// Removes the least important until the message fits: the oldest locations, then states, then
    /// others, then transitions; but never anything more important than the message itself.
    private func makeRoom(
        for message: OutgoingMessage, handedOut: HandedOut, in database: borrowing Database, _ book: inout OutboxBook
    ) throws(DatabaseError) -> Bool {
        let fits = { (book: OutboxBook) in
            book.rows < limit && (book.bytes + message.payload.count <= byteLimit || book.rows == 0)
        }
        for kind in [MessageKind.location, .state, .other, .transition] {
            while !fits(book) {
                // A hundredth at a time, for each search walks past everything that stays.
                let oldest = try rows(
                    "WHERE kind = ?1 ORDER BY id LIMIT ?2",
                    [.integer(kind.rawValue), .number(max(1, limit / 100) + handedOut.count)], in: database,
                    except: handedOut)
                guard !oldest.isEmpty else { break }
                try delete(oldest.prefix(max(1, limit / 100)), from: database, &book)
                book.dropped.count(kind, min(oldest.count, max(1, limit / 100)))
            }
            if fits(book) { return true }
            if kind == message.kind { return false }
        }
        return false
    }

    private struct Key {
        let id: Int64
        let bytes: Int
        let isProvisional: Bool
    }

    private func rows(
        _ condition: String, _ values: [SQLValue], in database: borrowing Database, except kept: HandedOut = [:]
    ) throws(DatabaseError) -> [Key] {
        var keys: [Key] = []
        try database.forEachRow("SELECT id, length(payload), stamp FROM outbox \(condition)", values) {
            row throws(DatabaseError) in
            guard let id = row[0].asInteger, kept[id] == nil else { return true }
            let isProvisional = row[2].asInteger == WallStamp.provisional.rawValue
            keys.append(Key(id: id, bytes: Int(row[1].asInteger ?? 0), isProvisional: isProvisional))
            return true
        }
        return keys
    }

    private func delete(
        _ keys: some Sequence<Key>, from database: borrowing Database, _ book: inout OutboxBook
    ) throws(DatabaseError) {
        for key in keys {
            try database.run("DELETE FROM outbox WHERE id = ?1", .integer(key.id))
            // It may have gone with the file that it was in.
            guard database.changes > 0 else { continue }
            book.rows -= 1
            book.bytes -= key.bytes
            if key.isProvisional { book.unstamped -= 1 }
        }
    }
}
