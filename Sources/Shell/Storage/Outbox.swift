import Base

/// The outbox table. Every function runs inside a transaction of the caller.
struct Outbox {
    let limit: Int
    let byteLimit: Int
    let refusedLimit: Int

    private enum TotalColumn: Int, ResultColumn { case rows, bytes, highest, unstamped }

    private static let totals = Query<TotalColumn>(
        """
        SELECT count(*) AS rows, total(length(payload)) AS bytes, coalesce(max(id), 0) AS highest,
        count(*) FILTER (WHERE \(WallStamp.isMissing)) AS unstamped FROM outbox
        """)

    static func readCounters(_ database: borrowing Database) throws(DatabaseError) -> OutboxCounters {
        var counters = OutboxCounters()
        try database.forEachRow(totals) { row throws(DatabaseError) in
            counters.rows = Int(row[.rows].asInteger ?? 0)
            counters.bytes = Int(row[.bytes].asReal ?? 0)
            counters.nextID = (row[.highest].asInteger ?? 0) + 1
            counters.unstamped = Int(row[.unstamped].asInteger ?? 0)
            return false
        }
        let highestRefused = try database.value("SELECT max(id) FROM refused")?.asInteger ?? 0
        counters.nextID = max(counters.nextID, highestRefused + 1)
        return counters
    }

    /// Adds a message at the end.
    ///
    /// - Parameter handedOut: Rows that the broker's client has; they are not touched.
    /// - Returns: Its row, or nil if there was no room for it.
    func add(
        _ message: Publication, boot: String, handedOut: HandedOut, to database: borrowing Database,
        _ counters: inout OutboxCounters
    ) throws(DatabaseError) -> Int64? {
        if let sameTopic = Self.replaced[message.kind] {
            let older = try rows(sameTopic, [.text(message.topic)], in: database, except: handedOut)
            try delete(older, from: database, &counters)
            counters.superseded += UInt64(older.count)
        }
        guard try makeRoom(for: message, handedOut: handedOut, in: database, &counters) else {
            counters.dropped.count(message.kind)
            return nil
        }
        let row = OutboxRow(id: counters.nextID, publication: message, boot: boot)
        try database.insert(row)
        counters.nextID += 1
        counters.rows += 1
        counters.bytes += message.payload.count
        if message.stamp == .provisional { counters.unstamped += 1 }
        return row.id
    }

    /// The broker has acknowledged these rows, so none of them waits for the wall clock.
    func acknowledge(
        _ rows: HandedOut, in database: borrowing Database, _ counters: inout OutboxCounters
    ) throws(DatabaseError) {
        try delete(rows.map { Key(id: $0.key, bytes: $0.value, isProvisional: false) }, from: database, &counters)
    }

    /// Deletes rows that a failed transaction left, so that their numbers are free again.
    func remove(from id: Int64, in database: borrowing Database, _ counters: inout OutboxCounters) throws(DatabaseError)
    {
        try delete(rows(Self.fromID, [.integer(id)], in: database), from: database, &counters)
        counters.nextID = id
    }

    /// Sets a row aside. Beyond the limit the oldest row that was set aside is deleted.
    ///
    /// - Parameters:
    ///   - boot: The boot whose clock `now` is read from.
    ///   - now: When it was refused.
    func refuse(
        _ id: Int64, reason: String, boot: String, at now: MonotonicInstant, in database: borrowing Database,
        _ counters: inout OutboxCounters
    ) throws(DatabaseError) {
        guard let row = try database.rows(OutboxRow.self, "WHERE id = ?1", .integer(id)).first else { return }
        try delete(rows(Self.withID, [.integer(id)], in: database), from: database, &counters)
        try database.insert(RefusedRow(row, reason: reason, boot: boot, at: now))
        try database.run(
            "DELETE FROM refused WHERE id <= (SELECT id FROM refused ORDER BY id DESC LIMIT 1 OFFSET ?1)",
            .number(refusedLimit))
        counters.refused += 1
    }

    /// Returns rows to the outbox that were set aside for one of these reasons. They keep their keys, and with them their order.
    /// States and pings are deleted: newer ones have been made, or are made for a connection with other limits.
    ///
    /// - Returns: How many wait again, and how many were deleted.
    func readmit(
        _ reasons: Set<String>, in database: borrowing Database, _ counters: inout OutboxCounters
    ) throws(DatabaseError) -> (again: Int, replaced: Int) {
        guard !reasons.isEmpty else { return (0, 0) }
        var (again, replaced) = (0, 0)
        for refused in try database.rows(RefusedRow.self, "ORDER BY id") where reasons.contains(refused.reason) {
            let publication = refused.row.publication
            let isReplaced = publication.kind == .state || publication.kind == .ping
            guard
                isReplaced || counters.rows < limit && counters.bytes + publication.payload.count <= byteLimit
            else { continue }
            try database.run("DELETE FROM refused WHERE id = ?1", .integer(refused.row.id))
            guard !isReplaced else {
                replaced += 1
                continue
            }
            try database.insert(refused.row)
            counters.rows += 1
            counters.bytes += publication.payload.count
            again += 1
        }
        return (again, replaced)
    }

    /// Epoch nanoseconds at which a row of `refused` was refused, for SQL. A boot without a clock ended before the next boot
    /// with one began. The largest number if no clock is known yet, and 0 if the boot is not recorded.
    private static let refusedAt = """
        coalesce((SELECT wall_offset + refused.happened FROM boot WHERE id = refused.boot),
        (SELECT later.wall_offset FROM boot JOIN boot AS later ON later.number > boot.number
        WHERE boot.id = refused.boot AND later.wall_offset IS NOT NULL ORDER BY later.number LIMIT 1),
        (SELECT \(Int64.max) FROM boot WHERE id = refused.boot), 0)
        """

    /// Deletes what was refused before these epoch seconds.
    static func pruneRefused(before: Int64, in database: borrowing Database) throws(DatabaseError) {
        try database.run("DELETE FROM refused WHERE \(refusedAt) / 1000000000 < ?1", .integer(before))
    }

    /// The number of rows that were refused at these epoch seconds or later, and are kept.
    static func refusedCount(since: Int64, in database: borrowing Database) throws(DatabaseError) -> Int {
        let sql = "SELECT count(*) FROM refused WHERE \(refusedAt) / 1000000000 >= ?1"
        return Int(try database.value(sql, .integer(since))?.asInteger ?? 0)
    }

    private static let deliverable = """
        SELECT \(OutboxRow.table.columnList) FROM outbox WHERE id > ?1 AND id < ?2 AND NOT \(WallStamp.isMissing)
        AND NOT EXISTS (SELECT 1 FROM outbox AS earlier WHERE earlier.\(WallStamp.isMissing)
        AND earlier.topic = outbox.topic AND earlier.id < outbox.id) ORDER BY id
        """

    /// Calls `body` with rows that may be delivered, in order, until it returns false. Rows that wait for the wall
    /// clock, and later rows of the same topic, are skipped.
    static func forEachDeliverable(
        after id: Int64, before end: Int64, in database: borrowing Database, _ body: (OutboxRow) -> Bool
    ) throws(DatabaseError) {
        try database.forEachRow(deliverable, [.integer(id), .integer(end)]) { statement throws(DatabaseError) in
            guard let row = OutboxRow(statement) else { throw .damaged("a row of outbox is not what was written") }
            return body(row)
        }
    }

    /// Removes the least important rows until the message fits: the oldest pings, then locations, then states, then
    /// others, then transitions. No row is removed that is more important than the message itself.
    private func makeRoom(
        for message: Publication, handedOut: HandedOut, in database: borrowing Database,
        _ counters: inout OutboxCounters
    ) throws(DatabaseError) -> Bool {
        let fits = { (counters: OutboxCounters) in
            counters.rows < limit && (counters.bytes + message.payload.count <= byteLimit || counters.rows == 0)
        }
        for kind in [Publication.Kind.transient, .ping, .location, .state, .other, .transition] {
            while !fits(counters) {
                // A hundredth at a time, because each search passes all remaining rows.
                let oldest = try rows(
                    Self.oldestOfKind,
                    [.integer(kind.rawValue), .number(max(1, limit / 100) + handedOut.count)], in: database,
                    except: handedOut)
                guard !oldest.isEmpty else { break }
                try delete(oldest.prefix(max(1, limit / 100)), from: database, &counters)
                counters.dropped.count(kind, min(oldest.count, max(1, limit / 100)))
            }
            if fits(counters) { return true }
            if kind == message.kind { return false }
        }
        return false
    }

    private struct Key {
        let id: Int64
        let bytes: Int
        let isProvisional: Bool
    }

    private enum KeyColumn: Int, ResultColumn { case id, bytes, stamp }

    private static let withID = keys("WHERE id = ?1")
    private static let fromID = keys("WHERE id >= ?1")
    private static let oldestOfKind = keys("WHERE kind = ?1 ORDER BY id LIMIT ?2")
    /// The rows that a message of this kind replaces. The kind is not bound, because SQLite uses a partial index only for
    /// constants.
    private static let replaced: [Publication.Kind: Query<KeyColumn>] = [
        .state: keys("WHERE kind = \(Publication.Kind.state.rawValue) AND topic = ?1"),
        .ping: keys("WHERE kind = \(Publication.Kind.ping.rawValue) AND topic = ?1"),
    ]

    private static func keys(_ condition: String) -> Query<KeyColumn> {
        Query("SELECT id, length(payload) AS bytes, stamp FROM outbox \(condition)")
    }

    private func rows(
        _ query: Query<KeyColumn>, _ values: [SQLValue], in database: borrowing Database,
        except kept: HandedOut = [:]
    ) throws(DatabaseError) -> [Key] {
        var keys: [Key] = []
        try database.forEachRow(query, values) { row throws(DatabaseError) in
            guard let id = row[.id].asInteger, kept[id] == nil else { return true }
            let isProvisional = row[.stamp].asInteger == WallStamp.provisional.rawValue
            keys.append(Key(id: id, bytes: Int(row[.bytes].asInteger ?? 0), isProvisional: isProvisional))
            return true
        }
        return keys
    }

    private func delete(
        _ keys: some Sequence<Key>, from database: borrowing Database, _ counters: inout OutboxCounters
    ) throws(DatabaseError) {
        for key in keys {
            try database.run("DELETE FROM outbox WHERE id = ?1", .integer(key.id))
            // The row may have been lost with its file.
            guard database.changes > 0 else { continue }
            counters.rows -= 1
            counters.bytes -= key.bytes
            if key.isProvisional { counters.unstamped -= 1 }
        }
    }
}
