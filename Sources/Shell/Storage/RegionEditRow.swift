import Regions

/// An edit of the command line, until the service has merged it.
struct RegionEditRow: StoredRow {
    enum Column: Int, RegionColumn {
        case id, tracker, kind
        case rid, name, uuid, major, minor, tst, lat, lon, rad
        case leaveAfter, enterRSSI, leaveRSSI, extensionMembers
    }

    static let table = Table<Column>("region_edit")
    /// The schema version that added the table.
    static let schemaVersion = 2

    private enum Kind: Int64 {
        case set = 0
        case setWithDerivedRID = 1
        /// With an empty `rid`, which no region has: the deletion of the tracker's history.
        case remove = 2
    }

    let edit: RegionEdit

    init(_ edit: RegionEdit) { self.edit = edit }

    init?(values: Row<Column>) {
        guard let id = values[.id].asInteger, let tracker = values[.tracker].asText,
            let kind = values[.kind].asInteger.flatMap(Kind.init(rawValue:))
        else { return nil }
        let change: RegionEdit.Change
        switch kind {
        case .remove:
            guard let rid = values[.rid].asText else { return nil }
            change = rid.isEmpty ? .eraseHistory : .region(.remove(rid: rid))
        case .set, .setWithDerivedRID:
            guard let region = values.region else { return nil }
            change = .region(.set(region, isRIDDerived: kind == .setWithDerivedRID))
        }
        edit = RegionEdit(id: id, tracker: tracker, change: change)
    }

    var values: Row<Column> {
        var values: Row<Column>
        let kind: Kind
        switch edit.change {
        case .region(.set(let region, let isRIDDerived)):
            kind = isRIDDerived ? .setWithDerivedRID : .set
            values = Row(region, of: edit.tracker)
        case .region(.remove(let rid)):
            kind = .remove
            values = [.tracker: .text(edit.tracker), .rid: .text(rid)]
        case .region(.removeMeant(let removal)):
            // Whoever edits has found out before which region is meant.
            kind = .remove
            values = [.tracker: .text(edit.tracker), .rid: .text(removal.rid)]
        case .eraseHistory:
            kind = .remove
            values = [.tracker: .text(edit.tracker), .rid: .text("")]
        }
        values[.id] = .integer(edit.id)
        values[.kind] = .integer(kind.rawValue)
        return values
    }
}
