import Base

/// A row with an instant of a boot, whose wall-clock time is set as soon as it is known.
protocol Happened {
    var happened: MonotonicInstant { get }
    /// Epoch seconds; means nothing while `stamp` is `provisional`.
    var timestamp: Int64 { get set }
    var stamp: WallStamp { get set }
}

/// A row of a table of such entries.
protocol HappenedRow: StoredRow {
    associatedtype Entry: Happened
    var entry: Entry { get set }
    var boot: String { get }
}

extension HistoryEntry: Happened {}
extension LocationEntry: Happened {}
extension HistoryRow: HappenedRow {}
extension LocationRow: HappenedRow {}

/// Gives messages and history entries that were made before the wall clock was known their times.
struct Stamping {
    let boot: String
    let restamp: @Sendable (Restamp) -> [UInt8]?

    /// Stamps all that can be stamped, in the caller's transaction.
    ///
    /// - Parameters:
    ///   - reading: The wall clock of this boot.
    ///   - now: When the messages are rendered again.
    func run(
        _ reading: WallClockReading, at now: MonotonicInstant, on database: borrowing Database,
        _ counters: inout OutboxCounters
    ) throws(DatabaseError) {
        let timeline = try Self.timeline(database)
        let waiting = try ids("SELECT id FROM outbox WHERE stamp = 0 ORDER BY id", in: database)
        for id in waiting {
            guard var row = try database.rows(OutboxRow.self, "WHERE id = ?1", .integer(id)).first else { continue }
            // The time of an unrecorded boot is unknown: its messages get the present time.
            let time = timeline.epochSeconds(of: row.message.happened, boot: row.boot)
            let happened = time?.seconds ?? reading.epochSeconds(at: now)
            let isEstimated = time?.isEstimated ?? true
            let request = Restamp(
                message: row.message, happened: happened, renderedAt: reading.epochSeconds(at: now),
                isEstimated: isEstimated)
            // A message without a time is not changed.
            let payload = restamp(request) ?? row.message.payload
            counters.bytes += payload.count - row.message.payload.count
            counters.unstamped -= 1
            row.message.payload = payload
            row.message.stamp = isEstimated ? .estimated : .exact
            try database.insert(row)
        }
        try stamp(HistoryRow.self, reading, at: now, timeline, on: database)
        try stamp(LocationRow.self, reading, at: now, timeline, on: database)
    }

    /// Gives the entries of a table that have no time theirs.
    private func stamp<Row: HappenedRow>(
        _: Row.Type, _ reading: WallClockReading, at now: MonotonicInstant, _ timeline: BootTimeline,
        on database: borrowing Database
    ) throws(DatabaseError) {
        for id in try ids("SELECT id FROM \(Row.table) WHERE stamp = 0 ORDER BY id", in: database) {
            guard var row = try database.rows(Row.self, "WHERE id = ?1", .integer(id)).first else { continue }
            let time = timeline.epochSeconds(of: row.entry.happened, boot: row.boot)
            row.entry.timestamp = time?.seconds ?? reading.epochSeconds(at: now)
            row.entry.stamp = time?.isEstimated ?? true ? .estimated : .exact
            try database.insert(row)
        }
    }

    private func ids(_ sql: String, in database: borrowing Database) throws(DatabaseError) -> [Int64] {
        var ids: [Int64] = []
        try database.forEachRow(sql) { row throws(DatabaseError) in
            if let id = row[0].asInteger { ids.append(id) }
            return true
        }
        return ids
    }

    private static func timeline(_ database: borrowing Database) throws(DatabaseError) -> BootTimeline {
        var lastAlive: [String: MonotonicInstant] = [:]
        let sql = """
            SELECT boot, max(happened) FROM outbox GROUP BY boot
            UNION ALL SELECT boot, max(happened) FROM history GROUP BY boot
            UNION ALL SELECT boot, max(happened) FROM location GROUP BY boot
            UNION ALL SELECT boot, saved_at FROM presence
            """
        try database.forEachRow(sql) { row throws(DatabaseError) in
            guard let boot = row[0].asText, let nanoseconds = row[1].asInteger else { return true }
            let instant = MonotonicInstant(nanoseconds: nanoseconds)
            lastAlive[boot] = max(lastAlive[boot] ?? instant, instant)
            return true
        }
        return BootTimeline(try database.rows(BootRow.self), lastAlive: lastAlive)
    }
}
