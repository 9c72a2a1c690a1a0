import Base
import Regions

extension PastTransition: Stampable {}
extension PastLocation: Stampable {}
extension HistoryRow: StampableRow {}
extension LocationRow: StampableRow {}

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
        _ reading: WallClock, at now: MonotonicInstant, on database: borrowing Database,
        _ counters: inout OutboxCounters
    ) throws(DatabaseError) {
        let timeline = try Self.timeline(database)
        for id in try unstamped(OutboxRow.self, in: database) {
            guard var row = try database.rows(OutboxRow.self, "WHERE id = ?1", .integer(id)).first else { continue }
            // The time of an unrecorded boot is unknown: its messages get the present time.
            let time = timeline.epochSeconds(of: row.publication.happened, boot: row.boot)
            let happened = time?.seconds ?? reading.epochSeconds(at: now)
            let isEstimated = time?.isEstimated ?? true
            let request = Restamp(
                publication: row.publication, happened: happened, renderedAt: reading.epochSeconds(at: now),
                isEstimated: isEstimated)
            // A message without a time is not changed.
            let payload = restamp(request) ?? row.publication.payload
            counters.bytes += payload.count - row.publication.payload.count
            counters.unstamped -= 1
            row.publication.payload = payload
            row.publication.stamp = isEstimated ? .estimated : .exact
            try database.insert(row)
        }
        try stamp(HistoryRow.self, reading, at: now, timeline, on: database)
        try stamp(LocationRow.self, reading, at: now, timeline, on: database)
    }

    /// Gives the entries of a table that have no time theirs.
    private func stamp<Stored: StampableRow>(
        _: Stored.Type, _ reading: WallClock, at now: MonotonicInstant, _ timeline: BootTimeline,
        on database: borrowing Database
    ) throws(DatabaseError) {
        for id in try unstamped(Stored.self, in: database) {
            guard var row = try database.rows(Stored.self, "WHERE id = ?1", .integer(id)).first else { continue }
            let time = timeline.epochSeconds(of: row.entry.happened, boot: row.boot)
            row.entry.timestamp = time?.seconds ?? reading.epochSeconds(at: now)
            row.entry.stamp = time?.isEstimated ?? true ? .estimated : .exact
            try database.insert(row)
        }
    }

    private enum KeyColumn: Int, ResultColumn { case id }

    /// The keys of the rows that have no time, in their order.
    private func unstamped<Stored: StoredRow>(
        _: Stored.Type, in database: borrowing Database
    ) throws(DatabaseError) -> [Int64] {
        let query = Query<KeyColumn>("SELECT id FROM \(Stored.table) WHERE \(WallStamp.isMissing) ORDER BY id")
        var ids: [Int64] = []
        try database.forEachRow(query) { row throws(DatabaseError) in
            if let id = row[.id].asInteger { ids.append(id) }
            return true
        }
        return ids
    }

    private enum AliveColumn: Int, ResultColumn { case boot, lastAlive }

    private static let lastAliveByBoot = Query<AliveColumn>(
        """
        SELECT boot, max(happened) AS last_alive FROM outbox GROUP BY boot
        UNION ALL SELECT boot, max(happened) FROM history GROUP BY boot
        UNION ALL SELECT boot, max(happened) FROM location GROUP BY boot
        UNION ALL SELECT boot, saved_at FROM presence
        """)

    private static func timeline(_ database: borrowing Database) throws(DatabaseError) -> BootTimeline {
        var lastAlive: [String: MonotonicInstant] = [:]
        try database.forEachRow(lastAliveByBoot) { row throws(DatabaseError) in
            guard let boot = row[.boot].asText, let nanoseconds = row[.lastAlive].asInteger else { return true }
            let instant = MonotonicInstant(nanoseconds: nanoseconds)
            lastAlive[boot] = max(lastAlive[boot] ?? instant, instant)
            return true
        }
        return BootTimeline(try database.rows(BootRow.self), lastAlive: lastAlive)
    }
}
