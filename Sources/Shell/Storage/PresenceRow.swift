import Base

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
