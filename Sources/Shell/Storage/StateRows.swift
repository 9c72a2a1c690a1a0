import Base
import Beacon

/// A history entry with its key and the boot of its monotonic stamp.
struct HistoryRow: StoredRow {
    static let table = "history"
    static let columns = ["id", "tracker", "rid", "name", "event", "beacon", "tst", "stamp", "boot", "happened"]
    static let insertSQL = makeInsertSQL()

    let id: Int64
    var entry: HistoryEntry
    let boot: String

    init(id: Int64, entry: HistoryEntry, boot: String) {
        self.id = id
        self.entry = entry
        self.boot = boot
    }

    init?(values: [SQLValue]) {
        guard let id = values[0].asInteger, let tracker = values[1].asText, let rid = values[2].asText,
            let name = values[3].asText, let event = values[4].asInteger.flatMap(HistoryEntry.Event.init(rawValue:)),
            let timestamp = values[6].asInteger, let stamp = values[7].asInteger.flatMap(WallStamp.init(rawValue:)),
            let boot = values[8].asText, let happened = values[9].asInteger
        else { return nil }
        self.id = id
        self.boot = boot
        entry = HistoryEntry(
            tracker: tracker, rid: rid, name: name, event: event,
            beacon: values[5].asText.flatMap { BeaconID(stored: $0) }, timestamp: timestamp, stamp: stamp,
            happened: MonotonicInstant(nanoseconds: happened))
    }

    var values: [SQLValue] {
        [
            .integer(id), .text(entry.tracker), .text(entry.rid), .text(entry.name), .integer(entry.event.rawValue),
            .optional(entry.beacon?.description), .integer(entry.timestamp), .integer(entry.stamp.rawValue),
            .text(boot), .integer(entry.happened.nanoseconds),
        ]
    }
}

/// The changes of the engine's state since it was written whole, in their order.
struct PresenceChangeRow: StoredRow {
    static let table = "presence_change"
    static let columns = ["id", "state"]
    static let insertSQL = makeInsertSQL()
    /// Since which there is the table.
    static let schemaVersion = 3

    let id: Int64
    let state: [UInt8]

    init(id: Int64, state: [UInt8]) {
        self.id = id
        self.state = state
    }

    init?(values: [SQLValue]) {
        guard let id = values[0].asInteger, let state = values[1].asBlob else { return nil }
        self.init(id: id, state: state)
    }

    var values: [SQLValue] { [.integer(id), .blob(state)] }
}

/// The engine's state: one row.
struct PresenceRow: StoredRow {
    static let table = "presence"
    static let columns = ["id", "version", "state", "boot", "saved_at"]
    static let insertSQL = makeInsertSQL()

    let record: PresenceRecord

    init(_ record: PresenceRecord) { self.record = record }

    init?(values: [SQLValue]) {
        guard values[0].asInteger == 1, let version = values[1].asInteger, let state = values[2].asBlob,
            let boot = values[3].asText, let savedAt = values[4].asInteger
        else { return nil }
        record = PresenceRecord(
            version: version, state: state, savedAt: MonotonicInstant(nanoseconds: savedAt), boot: boot)
    }

    var values: [SQLValue] {
        [
            .integer(1), .integer(record.version), .blob(record.state), .text(record.boot),
            .integer(record.savedAt.nanoseconds),
        ]
    }
}

/// A small value by name.
struct SettingRow: StoredRow {
    static let table = "setting"
    static let columns = ["key", "value"]
    static let insertSQL = makeInsertSQL()

    let key: String
    let value: [UInt8]

    init(key: String, value: [UInt8]) {
        self.key = key
        self.value = value
    }

    init?(values: [SQLValue]) {
        guard let key = values[0].asText, let value = values[1].asBlob else { return nil }
        self.init(key: key, value: value)
    }

    var values: [SQLValue] { [.text(key), .blob(value)] }
}

/// A boot of this machine in which the store was open.
struct BootRow: StoredRow, Hashable {
    static let table = "boot"
    static let columns = ["number", "id", "wall_offset"]
    static let insertSQL = makeInsertSQL()

    /// Counts boots in their order.
    let number: Int64
    /// `/proc/sys/kernel/random/boot_id`
    let id: String
    /// Epoch nanoseconds at the zero of its CLOCK_BOOTTIME, as reported last; nil while unknown.
    var wallClock: WallClockReading?

    init(number: Int64, id: String, wallClock: WallClockReading?) {
        self.number = number
        self.id = id
        self.wallClock = wallClock
    }

    init?(values: [SQLValue]) {
        guard let number = values[0].asInteger, let id = values[1].asText else { return nil }
        self.init(
            number: number, id: id,
            wallClock: values[2].asInteger.map { WallClockReading(epochNanosecondsAtBoot: $0) })
    }

    var values: [SQLValue] {
        [.integer(number), .text(id), .optional(wallClock?.epochNanosecondsAtBoot)]
    }
}

extension BeaconID {
    /// Reads its own description.
    init?(stored text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let uuid = BeaconUUID(parts[0]), let major = UInt16(parts[1]),
            let minor = UInt16(parts[2])
        else { return nil }
        self.init(uuid: uuid, major: major, minor: minor)
    }
}
