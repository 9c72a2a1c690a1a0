import Base
import Beacon
import Regions

/// A history entry with its key and the boot of its monotonic stamp.
struct HistoryRow: StoredRow {
    enum Column: Int, ResultColumn {
        case id, tracker, rid, name, event, beacon, tst, stamp, boot, happened
    }

    static let table = Table<Column>("history")

    let id: Int64
    var entry: PastTransition
    let boot: String
}

extension HistoryRow {
    init?(values: Row<Column>) {
        guard let id = values[.id].asInteger, let tracker = values[.tracker].asText, let rid = values[.rid].asText,
            let name = values[.name].asText,
            let event = PastTransition.Event.allCases.first(where: { $0.number == values[.event].asInteger }),
            let timestamp = values[.tst].asInteger,
            let stamp = values[.stamp].asInteger.flatMap(WallStamp.init(rawValue:)),
            let boot = values[.boot].asText, let happened = values[.happened].asInteger
        else { return nil }
        self.id = id
        self.boot = boot
        entry = PastTransition(
            tracker: tracker, rid: rid, name: name, event: event,
            beacon: values[.beacon].asText.flatMap { BeaconID($0) }, timestamp: timestamp, stamp: stamp,
            happened: MonotonicInstant(nanoseconds: happened))
    }

    var values: Row<Column> {
        [
            .id: .integer(id), .tracker: .text(entry.tracker), .rid: .text(entry.rid), .name: .text(entry.name),
            .event: .integer(entry.event.number), .beacon: .optional(entry.beacon?.description),
            .tst: .integer(entry.timestamp), .stamp: .integer(entry.stamp.rawValue), .boot: .text(boot),
            .happened: .integer(entry.happened.nanoseconds),
        ]
    }
}

extension PastTransition.Event {
    /// The number in the column `event`.
    fileprivate var number: Int64 { self == .enter ? 0 : 1 }
}

/// The changes of the engine's state since it was written whole, in their order.
struct PresenceChangeRow: StoredRow {
    enum Column: Int, ResultColumn { case id, state }

    static let table = Table<Column>("presence_change")
    /// The schema version that added the table.
    static let schemaVersion = 3

    let id: Int64
    let state: [UInt8]

    init(id: Int64, state: [UInt8]) {
        self.id = id
        self.state = state
    }

    init?(values: Row<Column>) {
        guard let id = values[.id].asInteger, let state = values[.state].asBlob else { return nil }
        self.init(id: id, state: state)
    }

    var values: Row<Column> { [.id: .integer(id), .state: .blob(state)] }
}

/// The engine's state: one row.
struct PresenceRow: StoredRow {
    enum Column: Int, ResultColumn { case id, version, state, boot, savedAt }

    static let table = Table<Column>("presence")
    private static let onlyID: Int64 = 1

    let record: PresenceRecord

    init(_ record: PresenceRecord) { self.record = record }

    init?(values: Row<Column>) {
        guard values[.id].asInteger == Self.onlyID, let version = values[.version].asInteger,
            let state = values[.state].asBlob, let boot = values[.boot].asText,
            let savedAt = values[.savedAt].asInteger
        else { return nil }
        record = PresenceRecord(
            version: version, state: state, savedAt: MonotonicInstant(nanoseconds: savedAt), boot: boot)
    }

    var values: Row<Column> {
        [
            .id: .integer(Self.onlyID), .version: .integer(record.version), .state: .blob(record.state),
            .boot: .text(record.boot), .savedAt: .integer(record.savedAt.nanoseconds),
        ]
    }
}

/// A small value by name.
struct SettingRow: StoredRow {
    enum Column: Int, ResultColumn { case key, value }

    static let table = Table<Column>("setting")

    let key: String
    let value: [UInt8]

    init(key: String, value: [UInt8]) {
        self.key = key
        self.value = value
    }

    init?(values: Row<Column>) {
        guard let key = values[.key].asText, let value = values[.value].asBlob else { return nil }
        self.init(key: key, value: value)
    }

    var values: Row<Column> { [.key: .text(key), .value: .blob(value)] }
}

/// A boot of this machine in which the store was open.
struct BootRow: StoredRow, Hashable {
    enum Column: Int, ResultColumn { case number, id, wallOffset }

    static let table = Table<Column>("boot")

    /// Counts boots in their order.
    let number: Int64
    /// `/proc/sys/kernel/random/boot_id`
    let id: String
    /// Epoch nanoseconds at the zero of its CLOCK_BOOTTIME, as reported last; nil while unknown.
    var wallClock: WallClock?

    init(number: Int64, id: String, wallClock: WallClock?) {
        self.number = number
        self.id = id
        self.wallClock = wallClock
    }

    init?(values: Row<Column>) {
        guard let number = values[.number].asInteger, let id = values[.id].asText else { return nil }
        self.init(
            number: number, id: id,
            wallClock: values[.wallOffset].asInteger.map { WallClock(epochOffset: $0, isKnown: true) })
    }

    var values: Row<Column> {
        [.number: .integer(number), .id: .text(id), .wallOffset: .optional(wallClock?.epochOffset)]
    }
}
