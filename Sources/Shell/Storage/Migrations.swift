/// The schema as a list of steps. Steps are only appended: a file of any released version is updated by the steps that
/// it does not have yet.
package enum Migrations {
    /// Marks the files of this program (`PRAGMA application_id`): "iBGW".
    static let applicationID: Int64 = 0x6942_4757

    /// The version that this program writes.
    package static var latest: Int64 { Int64(steps.count) }

    /// `steps[n]` leads from version n to n + 1.
    static let steps: [[String]] = [
        [
            """
            CREATE TABLE setting (key TEXT PRIMARY KEY, value BLOB NOT NULL, digest INTEGER NOT NULL) WITHOUT ROWID
            """,
            """
            CREATE TABLE boot (
                number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, wall_offset INTEGER, digest INTEGER NOT NULL)
            """,
            """
            CREATE TABLE region (
                tracker TEXT NOT NULL, position INTEGER NOT NULL, rid TEXT NOT NULL, name TEXT NOT NULL,
                uuid TEXT, major INTEGER, minor INTEGER, tst INTEGER NOT NULL, lat REAL, lon REAL, rad REAL,
                leave_after INTEGER, enter_rssi INTEGER, leave_rssi INTEGER, extension_members TEXT NOT NULL,
                digest INTEGER NOT NULL, PRIMARY KEY (tracker, rid)) WITHOUT ROWID
            """,
            """
            CREATE TABLE presence (
                id INTEGER PRIMARY KEY, version INTEGER NOT NULL, state BLOB NOT NULL, boot TEXT NOT NULL,
                saved_at INTEGER NOT NULL, digest INTEGER NOT NULL)
            """,
            """
            CREATE TABLE inside (
                tracker TEXT NOT NULL, rid TEXT NOT NULL, beacon TEXT NOT NULL, since INTEGER, last_heard INTEGER,
                digest INTEGER NOT NULL, PRIMARY KEY (tracker, rid, beacon)) WITHOUT ROWID
            """,
            """
            CREATE TABLE outbox (
                id INTEGER PRIMARY KEY, tracker TEXT NOT NULL, topic TEXT NOT NULL, qos INTEGER NOT NULL,
                retain INTEGER NOT NULL, kind INTEGER NOT NULL, payload BLOB NOT NULL, boot TEXT NOT NULL,
                happened INTEGER NOT NULL, stamp INTEGER NOT NULL, digest INTEGER NOT NULL)
            """,
            // The index contains only rows that wait for the clock. Usually there are none, so it costs no write.
            "CREATE INDEX outbox_provisional ON outbox (topic) WHERE stamp = 0",
            "CREATE INDEX outbox_state ON outbox (topic) WHERE kind = 2",
            """
            CREATE TABLE refused (
                id INTEGER PRIMARY KEY, tracker TEXT NOT NULL, topic TEXT NOT NULL, qos INTEGER NOT NULL,
                retain INTEGER NOT NULL, kind INTEGER NOT NULL, payload BLOB NOT NULL, boot TEXT NOT NULL,
                happened INTEGER NOT NULL, stamp INTEGER NOT NULL, reason TEXT NOT NULL, digest INTEGER NOT NULL)
            """,
            """
            CREATE TABLE history (
                id INTEGER PRIMARY KEY, tracker TEXT NOT NULL, rid TEXT NOT NULL, name TEXT NOT NULL,
                event INTEGER NOT NULL, beacon TEXT, tst INTEGER NOT NULL, stamp INTEGER NOT NULL,
                boot TEXT NOT NULL, happened INTEGER NOT NULL, digest INTEGER NOT NULL)
            """,
            "CREATE INDEX history_provisional ON history (id) WHERE stamp = 0",
        ],
        [
            """
            CREATE TABLE region_edit (
                id INTEGER PRIMARY KEY AUTOINCREMENT, tracker TEXT NOT NULL, kind INTEGER NOT NULL,
                rid TEXT NOT NULL, name TEXT, uuid TEXT, major INTEGER, minor INTEGER, tst INTEGER, lat REAL,
                lon REAL, rad REAL, leave_after INTEGER, enter_rssi INTEGER, leave_rssi INTEGER,
                extension_members TEXT, digest INTEGER NOT NULL)
            """
        ],
        [
            """
            CREATE TABLE presence_change (id INTEGER PRIMARY KEY, state BLOB NOT NULL, digest INTEGER NOT NULL)
            """
        ],
        // The table was written and never read.
        ["DROP TABLE inside"],
        // Messages of kind 4, which earlier programs do not know.
        ["CREATE INDEX outbox_ping ON outbox (topic) WHERE kind = 4"],
        [
            """
            CREATE TABLE location (
                id INTEGER PRIMARY KEY, tracker TEXT NOT NULL, lat REAL NOT NULL, lon REAL NOT NULL,
                acc INTEGER NOT NULL, cause TEXT NOT NULL, tst INTEGER NOT NULL, stamp INTEGER NOT NULL,
                boot TEXT NOT NULL, happened INTEGER NOT NULL, digest INTEGER NOT NULL)
            """,
            "CREATE INDEX location_provisional ON location (id) WHERE stamp = 0",
        ],
        // Changes no table. Programs before the first release do not know what later ones keep in a row, such as the identity
        // of a region, and refuse a file of this version instead of losing it.
        [],
    ]

    /// Brings a file of version `found` to `version`, in one transaction.
    static func run(
        on database: borrowing Database, from found: Int64, to version: Int64 = latest
    ) throws(DatabaseError) {
        guard found < version else { return }
        try database.transaction { () throws(DatabaseError) in
            for step in steps[Int(found)..<Int(version)] {
                for statement in step { try database.run(statement) }
            }
            try database.run("PRAGMA application_id = \(applicationID)")
            try database.run("PRAGMA user_version = \(version)")
            try Inspection.seal(database, version: version)
        }
    }
}
