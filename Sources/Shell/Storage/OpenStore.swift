import Base

/// The open database with its cached state. It is a class because it is stored in an optional, which non-copyable types
/// do not support well.
final class OpenStore {
    let database: Database
    private let settings: StoreSettings
    private let outbox: Outbox
    private(set) var counters: OutboxCounters
    private(set) var historyRows: Int
    private(set) var locationRows: Int
    private var nextHistoryID: Int64
    private var nextLocationID: Int64
    private(set) var boot: BootRow
    /// The files of its log.
    let log: OpenLog
    /// The key of the next change of presence; nil: it has to be read.
    private var nextPresenceChange: Int64?
    /// Changes written since `checkpoint`.
    private var pagesInLog = 0

    /// Takes ownership of the database and records this boot.
    ///
    /// - Parameter keys: New rows get these keys or higher ones, independent of the file's content. The broker's client
    ///   may still have messages of a lost file, and acknowledges them by their keys.
    init(
        _ database: consuming Database, _ settings: StoreSettings, keysFrom keys: StoreWork.FirstKeys?
    ) throws(DatabaseError) {
        self.settings = settings
        outbox = Outbox(
            limit: settings.outboxLimit, byteLimit: settings.outboxByteLimit, refusedLimit: settings.refusedLimit)
        counters = try Outbox.readCounters(database)
        historyRows = Int(try database.value("SELECT count(*) FROM history")?.asInteger ?? 0)
        nextHistoryID = (try database.value("SELECT max(id) FROM history")?.asInteger ?? 0) + 1
        locationRows = Int(try database.value("SELECT count(*) FROM location")?.asInteger ?? 0)
        nextLocationID = (try database.value("SELECT max(id) FROM location")?.asInteger ?? 0) + 1
        counters.nextID = max(counters.nextID, keys?.outbox ?? 0)
        nextHistoryID = max(nextHistoryID, keys?.history ?? 0)
        nextLocationID = max(nextLocationID, keys?.location ?? 0)
        if let known = try database.rows(BootRow.self, "WHERE id = ?1", .text(settings.boot)).first {
            boot = known
        } else {
            let last = try database.value("SELECT max(number) FROM boot")?.asInteger ?? 0
            boot = BootRow(number: last + 1, id: settings.boot, wallClock: nil)
            try Self.record(boot, in: database)
        }
        try WriterVersion.record(settings.program, in: database)
        log = OpenLog(of: settings.path)
        self.database = database
    }

    /// Removes old boots that no message and no history entry needs for its time.
    private static func record(_ boot: BootRow, in database: borrowing Database) throws(DatabaseError) {
        try database.transaction { () throws(DatabaseError) in
            try database.insert(boot)
            try database.run(
                """
                DELETE FROM boot WHERE number < ?1 - 20
                AND id NOT IN (SELECT boot FROM outbox WHERE \(WallStamp.isMissing))
                AND id NOT IN (SELECT boot FROM history WHERE \(WallStamp.isMissing))
                AND id NOT IN (SELECT boot FROM location WHERE \(WallStamp.isMissing))
                AND id NOT IN (SELECT boot FROM refused)
                """, .integer(boot.number))
        }
    }

    /// The result of a write.
    struct Outcome {
        /// For each message of the commit, its row.
        var outboxIDs: [Int64?] = []
        /// The rows of the commit, if none of them waits for the clock or was replaced by another.
        var fresh: [OutboxRow] = []
        /// Rows no longer wait for the clock, so later rows of their topics can be sent.
        var unblocked = false
        var superseded: UInt64 = 0
        var refused: UInt64 = 0
        /// Rows that were set aside and wait again.
        var readmitted = 0
        /// Rows that were set aside, and of which newer ones have been made.
        var replaced = 0
        var dropped = DropCounts()
    }

    /// Writes all of `work` in one transaction.
    func write(
        _ work: StoreWork, handedOut: HandedOut, at now: MonotonicInstant
    ) throws(DatabaseError) -> Outcome {
        var outcome = Outcome()
        var counters = counters
        var boot = boot
        var keys = nextKeys
        var nextPresenceChange = nextPresenceChange
        let unstampedBefore = counters.unstamped
        // After a failed transaction the key is read from the file again.
        self.nextPresenceChange = nil
        try database.transaction { () throws(DatabaseError) in
            if let first = work.firstTry { try removeUncommittedRows(first, &counters, &keys) }
            try outbox.acknowledge(work.acknowledged, in: database, &counters)
            // Before those that are refused now.
            (outcome.readmitted, outcome.replaced) = try outbox.readmit(work.readmitted, in: database, &counters)
            for (id, reason) in work.refused {
                try outbox.refuse(id, reason: reason, boot: boot.id, at: now, in: database, &counters)
            }
            if let commit = work.commit {
                try write(commit, handedOut: handedOut, &counters, &keys, &outcome)
            }
            // A checkpoint beside a commit is the later of the two.
            if let record = work.checkpoint ?? work.commit?.presence { try write(record, &nextPresenceChange) }
            if work.checkpoint == nil, let changes = work.commit?.presenceChanges {
                for change in changes { try write(change: change, &nextPresenceChange) }
            }
            if let clock = work.clock, boot.wallClock?.isCloseTo(clock) != true {
                boot.wallClock = clock
                try database.insert(boot)
            }
            if let clock = boot.wallClock, work.clock != nil || counters.unstamped > 0 {
                let stamping = Stamping(boot: boot.id, restamp: settings.restamp)
                try stamping.run(clock, at: now, on: database, &counters)
            }
            if let before = work.pruneBefore { try prune(before: before) }
            outcome.dropped.history = UInt64(try trim("history", of: historyRows) + trim("location", of: locationRows))
        }
        outcome.unblocked = counters.unstamped < unstampedBefore || work.clock != nil || outcome.readmitted > 0
        outcome.moveCounts(from: &counters)
        if let commit = work.commit, unstampedBefore == 0, work.clock == nil, outcome.superseded == 0,
            outcome.dropped.total == 0, commit.messages.allSatisfy({ $0.stamp == .exact })
        {
            outcome.fresh = zip(outcome.outboxIDs, commit.messages).compactMap { id, message in
                id.map { OutboxRow(id: $0, publication: message, boot: settings.boot) }
            }
        }
        (self.counters, self.boot, self.nextPresenceChange) = (counters, boot, nextPresenceChange)
        (nextHistoryID, nextLocationID) = (keys.history, keys.location)
        historyRows += work.commit?.history.count ?? 0
        locationRows += work.commit?.locations.count ?? 0
        if work.pruneBefore != nil || work.commit?.erasedHistories.isEmpty == false || work.firstTry != nil
            || outcome.dropped.history > 0
        {
            historyRows = Int(try database.value("SELECT count(*) FROM history")?.asInteger ?? 0)
            locationRows = Int(try database.value("SELECT count(*) FROM location")?.asInteger ?? 0)
        }
        return outcome
    }

    /// Whether the log is so long that it should be copied into the file during an idle time.
    var wantsCheckpoint: Bool { pagesInLog >= StoreFile.checkpointPages / 4 * 3 }

    /// Copies the log into the file. If that fails, one of the next commits does it.
    func checkpoint() {
        database.checkpoint()
        pagesInLog = 0
    }

    /// Pages written by this connection since the last call, the log's included.
    func drainPagesWritten() -> Int {
        let pages = database.drainPagesWritten()
        pagesInLog += pages
        return pages
    }

    /// The keys that the next commit gets.
    var nextKeys: StoreWork.FirstKeys {
        StoreWork.FirstKeys(outbox: counters.nextID, history: nextHistoryID, location: nextLocationID)
    }

    private func removeUncommittedRows(
        _ first: StoreWork.FirstKeys, _ counters: inout OutboxCounters, _ keys: inout StoreWork.FirstKeys
    ) throws(DatabaseError) {
        try outbox.remove(from: first.outbox, in: database, &counters)
        try database.run("DELETE FROM history WHERE id >= ?1", .integer(first.history))
        try database.run("DELETE FROM location WHERE id >= ?1", .integer(first.location))
        (keys.history, keys.location) = (first.history, first.location)
    }

    private func write(
        _ commit: PendingCommit, handedOut: HandedOut, _ counters: inout OutboxCounters,
        _ keys: inout StoreWork.FirstKeys,
        _ outcome: inout Outcome
    ) throws(DatabaseError) {
        for (tracker, regions) in commit.regions {
            try database.replaceRegions(of: tracker, by: regions)
        }
        for (tracker, upTo) in commit.editsTaken {
            try database.run(
                "DELETE FROM region_edit WHERE tracker = ?1 AND id <= ?2", .text(tracker.text), .integer(upTo))
        }
        for (key, value) in commit.values {
            if let bytes = value.bytes {
                try database.insert(SettingRow(key: key.text, value: bytes))
            } else {
                try database.run("DELETE FROM setting WHERE key = ?1", .text(key.text))
            }
        }
        for message in commit.messages {
            outcome.outboxIDs.append(
                try outbox.add(message, boot: settings.boot, handedOut: handedOut, to: database, &counters))
        }
        for tracker in commit.erasedHistories {
            try database.run("DELETE FROM history WHERE tracker = ?1", .text(tracker.text))
        }
        for entry in commit.history {
            try database.insert(HistoryRow(id: keys.history, entry: entry, boot: settings.boot))
            keys.history += 1
        }
        for entry in commit.locations {
            try database.insert(LocationRow(id: keys.location, entry: entry, boot: settings.boot))
            keys.location += 1
        }
    }

    private func write(_ record: PresenceRecord, _ nextChange: inout Int64?) throws(DatabaseError) {
        var record = record
        record.boot = settings.boot
        try database.insert(PresenceRow(record))
        // An empty table is not cleared again, because that would write another page.
        if nextChange != 1 { try database.run("DELETE FROM presence_change") }
        nextChange = 1
    }

    private func write(change state: [UInt8], _ nextChange: inout Int64?) throws(DatabaseError) {
        let id: Int64
        if let nextChange {
            id = nextChange
        } else {
            id = (try database.value("SELECT max(id) FROM presence_change")?.asInteger ?? 0) + 1
        }
        try database.insert(PresenceChangeRow(id: id, state: state))
        nextChange = id + 1
    }

    /// Forgets entries of the history, and refused messages, from before these epoch seconds. Entries that have no time yet stay.
    private func prune(before: Int64) throws(DatabaseError) {
        for table in ["history", "location"] {
            try database.run("DELETE FROM \(table) WHERE tst < ?1 AND NOT \(WallStamp.isMissing)", .integer(before))
        }
        try Outbox.pruneRefused(before: before, in: database)
    }

    /// Keeps a table within the limit of the history. A tenth of slack avoids trimming at each entry.
    private func trim(_ table: String, of rows: Int) throws(DatabaseError) -> Int {
        guard rows > settings.historyLimit + settings.historyLimit / 10 else { return 0 }
        try database.run(
            "DELETE FROM \(table) WHERE id <= (SELECT id FROM \(table) ORDER BY id DESC LIMIT 1 OFFSET ?1)",
            .number(settings.historyLimit))
        return database.changes
    }
}

extension OpenStore.Outcome {
    /// Adds the counts of the transaction to the counters.
    fileprivate mutating func moveCounts(from counters: inout OutboxCounters) {
        dropped = dropped + counters.dropped
        (superseded, refused) = (counters.superseded, counters.refused)
        (counters.dropped, counters.superseded, counters.refused) = (DropCounts(), 0, 0)
    }
}
