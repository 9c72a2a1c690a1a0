import Base
import Beacon
import Regions

/// The open database with what is known of it. A class, for it is put in and out of an optional,
/// where an owner that cannot be copied is not at home.
final class OpenStore {
    let database: Database
    private let settings: StoreSettings
    private let outbox: Outbox
    private(set) var book: OutboxBook
    private(set) var historyRows: Int
    private var nextHistoryID: Int64
    private(set) var boot: BootRow
    /// What stands in the tables of presence; nil: not known.
    private var presence: StoredPresence?
    /// Written since `checkpoint`.
    private var pagesInLog = 0

    /// Takes the database over and puts this boot on record.
    ///
    /// - Parameter keys: Rows get these or higher ones, whatever the file holds. The broker's client may have messages
    ///   of a file that is gone, and acknowledges them by their keys.
    init(
        _ database: consuming Database, _ settings: StoreSettings, keysFrom keys: StoreWork.FirstKeys?
    ) throws(DatabaseError) {
        self.settings = settings
        outbox = Outbox(
            limit: settings.outboxLimit, byteLimit: settings.outboxByteLimit, refusedLimit: settings.refusedLimit)
        book = try Outbox.readBook(database)
        historyRows = Int(try database.value("SELECT count(*) FROM history")?.asInteger ?? 0)
        nextHistoryID = (try database.value("SELECT max(id) FROM history")?.asInteger ?? 0) + 1
        book.nextID = max(book.nextID, keys?.outbox ?? 0)
        nextHistoryID = max(nextHistoryID, keys?.history ?? 0)
        if let known = try database.rows(BootRow.self, "WHERE id = ?1", .text(settings.boot)).first {
            boot = known
        } else {
            let last = try database.value("SELECT max(number) FROM boot")?.asInteger ?? 0
            boot = BootRow(number: last + 1, id: settings.boot, wallClock: nil)
            try Self.record(boot, in: database)
        }
        self.database = database
    }

    /// Boots of which nothing is left are of no use to anybody.
    private static func record(_ boot: BootRow, in database: borrowing Database) throws(DatabaseError) {
        try database.transaction { () throws(DatabaseError) in
            try database.insert(boot)
            try database.run(
                """
                DELETE FROM boot WHERE number < ?1 - 20 AND id NOT IN (SELECT boot FROM outbox WHERE stamp = 0)
                AND id NOT IN (SELECT boot FROM history WHERE stamp = 0)
                """, .integer(boot.number))
        }
    }

    /// What a write did.
    struct Outcome {
        /// For each message of the commit, its row.
        var outboxIDs: [Int64?] = []
        /// The rows of the commit, if none of them waits for the clock or was replaced by another.
        var fresh: [OutboxRow] = []
        /// Rows that waited for the clock do so no more: what waited behind them can go.
        var unblocked = false
        var superseded: UInt64 = 0
        var refused: UInt64 = 0
        var dropped = DropCounts()
    }

    /// Writes all of `work` in one transaction.
    func write(
        _ work: StoreWork, handedOut: HandedOut, at now: MonotonicInstant
    ) throws(DatabaseError) -> Outcome {
        var outcome = Outcome()
        var book = book
        var boot = boot
        var nextHistoryID = nextHistoryID
        var presence = presence
        let unstampedBefore = book.unstamped
        // Whatever becomes of a transaction that fails.
        self.presence = nil
        try database.transaction { () throws(DatabaseError) in
            if let first = work.firstTry { try removeGhosts(first, &book, &nextHistoryID) }
            try outbox.acknowledge(work.acknowledged, in: database, &book)
            for (id, reason) in work.refused {
                try outbox.refuse(id, reason: reason, in: database, &book)
            }
            if let commit = work.commit {
                try write(commit, handedOut: handedOut, &book, &nextHistoryID, &outcome)
            }
            // A checkpoint beside a commit is the later of the two.
            if let record = work.checkpoint ?? work.commit?.presence { try write(record, &presence) }
            if work.checkpoint == nil, let changes = work.commit?.presenceChanges {
                for change in changes { try write(change, &presence) }
            }
            if let clock = work.clock, clock.isNews(to: boot.wallClock) {
                boot.wallClock = clock
                try database.insert(boot)
            }
            if let clock = boot.wallClock, work.clock != nil || book.unstamped > 0 {
                let stamping = Stamping(boot: boot.id, restamp: settings.restamp)
                try stamping.run(clock, at: now, on: database, &book)
            }
            if let before = work.pruneBefore {
                try database.run("DELETE FROM history WHERE tst < ?1 AND stamp <> 0", .integer(before))
            }
            outcome.dropped.history = UInt64(try trimHistory())
        }
        outcome.unblocked = book.unstamped < unstampedBefore || work.clock != nil
        outcome.take(&book)
        if let commit = work.commit, unstampedBefore == 0, work.clock == nil, outcome.superseded == 0,
            outcome.dropped.total == 0, commit.messages.allSatisfy({ $0.message.stamp == .exact })
        {
            outcome.fresh = zip(outcome.outboxIDs, commit.messages).compactMap { id, waiting in
                id.map { OutboxRow(id: $0, message: waiting.message, boot: settings.boot) }
            }
        }
        (self.book, self.boot, self.nextHistoryID, self.presence) = (book, boot, nextHistoryID, presence)
        historyRows += work.commit?.history.count ?? 0
        if work.pruneBefore != nil || work.firstTry != nil || outcome.dropped.history > 0 {
            historyRows = Int(try database.value("SELECT count(*) FROM history")?.asInteger ?? 0)
        }
        return outcome
    }

    /// Whether the log has grown so far that it should be played into the file while nobody waits.
    var wantsCheckpoint: Bool { pagesInLog >= StoreFile.checkpointPages / 4 * 3 }

    /// Plays the log into the file; what fails is done by the next commit, or the next but one.
    func checkpoint() {
        database.checkpoint()
        pagesInLog = 0
    }

    /// Pages written by this connection since the last call, the log's included.
    func takePagesWritten() -> Int {
        let pages = database.takePagesWritten()
        pagesInLog += pages
        return pages
    }

    /// The keys that the next commit gets.
    var nextKeys: StoreWork.FirstKeys { StoreWork.FirstKeys(outbox: book.nextID, history: nextHistoryID) }

    private func removeGhosts(
        _ first: StoreWork.FirstKeys, _ book: inout OutboxBook, _ nextHistoryID: inout Int64
    ) throws(DatabaseError) {
        try outbox.remove(from: first.outbox, in: database, &book)
        try database.run("DELETE FROM history WHERE id >= ?1", .integer(first.history))
        nextHistoryID = first.history
    }

    private func write(
        _ commit: PendingCommit, handedOut: HandedOut, _ book: inout OutboxBook, _ nextHistoryID: inout Int64,
        _ outcome: inout Outcome
    ) throws(DatabaseError) {
        for (tracker, regions) in commit.regions {
            try database.run("DELETE FROM region WHERE tracker = ?1", .text(tracker.text))
            try database.insert(
                regions.enumerated().map { RegionRow(tracker: tracker.text, position: $0.offset, region: $0.element) })
        }
        for (tracker, upTo) in commit.editsTaken {
            try database.run(
                "DELETE FROM region_edit WHERE tracker = ?1 AND id <= ?2", .text(tracker.text), .integer(upTo))
        }
        for (key, value) in commit.values {
            if let value {
                try database.insert(SettingRow(key: key.text, value: value))
            } else {
                try database.run("DELETE FROM setting WHERE key = ?1", .text(key.text))
            }
        }
        for waiting in commit.messages {
            outcome.outboxIDs.append(
                try outbox.add(waiting.message, boot: settings.boot, handedOut: handedOut, to: database, &book))
        }
        for entry in commit.history {
            try database.insert(HistoryRow(id: nextHistoryID, entry: entry, boot: settings.boot))
            nextHistoryID += 1
        }
    }

    private func write(_ record: PresenceRecord, _ known: inout StoredPresence?) throws(DatabaseError) {
        var record = record
        record.boot = settings.boot
        try database.insert(PresenceRow(record))
        // An empty table is not emptied, which would be a page more.
        if known?.nextChange != 1 { try database.run("DELETE FROM presence_change") }
        var inside: [PresenceRecord.Place: PresenceRecord.Inside] = [:]
        for item in record.inside { inside[item.place] = item }
        if let known {
            // Most of them stand there already.
            for (place, item) in known.inside where inside[place] != item { try remove(place) }
            try database.insert(record.inside.filter { known.inside[$0.place] != $0 }.map(InsideRow.init))
        } else {
            try database.run("DELETE FROM inside")
            try database.insert(record.inside.map(InsideRow.init))
        }
        known = StoredPresence(nextChange: 1, inside: inside)
    }

    private func write(_ change: PresenceChange, _ known: inout StoredPresence?) throws(DatabaseError) {
        var last = (known?.nextChange).map { $0 - 1 }
        if last == nil { last = try database.value("SELECT max(id) FROM presence_change")?.asInteger }
        let next = (last ?? 0) + 1
        try database.insert(PresenceChangeRow(id: next, state: change.state))
        known?.nextChange = next + 1
        for place in change.left + change.entered.map(\.place) {
            guard known == nil || known?.inside[place] != nil else { continue }
            try remove(place)
            known?.inside[place] = nil
        }
        try database.insert(change.entered.map(InsideRow.init))
        for item in change.entered { known?.inside[item.place] = item }
    }

    private func remove(_ place: PresenceRecord.Place) throws(DatabaseError) {
        try database.run("DELETE FROM inside WHERE tracker = ?1 AND rid = ?2", .text(place.tracker), .text(place.rid))
    }

    /// Keeps the history within its limit, with a tenth of slack so that it is not trimmed at each entry.
    private func trimHistory() throws(DatabaseError) -> Int {
        guard historyRows > settings.historyLimit + settings.historyLimit / 10 else { return 0 }
        try database.run(
            "DELETE FROM history WHERE id <= (SELECT id FROM history ORDER BY id DESC LIMIT 1 OFFSET ?1)",
            .number(settings.historyLimit))
        return database.changes
    }
}

extension OpenStore.Outcome {
    /// Moves what the book counted during the transaction.
    fileprivate mutating func take(_ book: inout OutboxBook) {
        dropped = dropped + book.dropped
        (superseded, refused) = (book.superseded, book.refused)
        (book.dropped, book.superseded, book.refused) = (DropCounts(), 0, 0)
    }
}

extension WallClockReading {
    /// A second of difference is what stamps can show; less is the clock being disciplined.
    fileprivate func isNews(to known: WallClockReading?) -> Bool {
        guard let known else { return true }
        return (epochNanosecondsAtBoot &- known.epochNanosecondsAtBoot).magnitude >= 1_000_000_000
    }
}

/// What stands in the tables of presence.
private struct StoredPresence {
    /// The key of the next change.
    var nextChange: Int64
    var inside: [PresenceRecord.Place: PresenceRecord.Inside]
}
