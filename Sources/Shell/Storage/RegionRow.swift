import Base
import Beacon
import Regions

/// A region as columns, so that a person can read the table.
struct RegionColumns {
    static let names = [
        "rid", "name", "uuid", "major", "minor", "tst", "lat", "lon", "rad", "leave_after", "enter_rssi",
        "leave_rssi", "extension_members",
    ]
    /// `leave_after` of a region that asks for the learned rule; above it are nanoseconds.
    private static let auto: Int64 = -1

    static func values(of region: Region) -> [SQLValue] {
        let leaveAfter: SQLValue =
            switch region.leaveRule {
            case nil: .null
            case .auto: .integer(auto)
            case .after(let duration): .integer(max(0, duration.nanoseconds))
            }
        let pattern = region.description.pattern
        return [
            .text(region.rid), .text(region.description.name), .optional(pattern?.uuid.description),
            .optional(pattern?.major), .optional(pattern?.minor), .integer(region.timestamp),
            .real(region.coordinates.latitude), .real(region.coordinates.longitude), .real(region.radius),
            leaveAfter, .optional(region.enterRSSI?.dBm), .optional(region.leaveRSSI?.dBm),
            .text(region.extensionMembers),
        ]
    }

    static func region(from values: ArraySlice<SQLValue>) -> Region? {
        let values = Array(values)
        guard values.count == names.count, let rid = values[0].asText, let name = values[1].asText,
            let timestamp = values[5].asInteger, let extensionMembers = values[12].asText
        else { return nil }
        var pattern: BeaconPattern?
        if let text = values[2].asText {
            guard let uuid = BeaconUUID(text) else { return nil }
            pattern = BeaconPattern(
                uuid: uuid, major: values[3].asInteger.flatMap { UInt16(exactly: $0) },
                minor: values[4].asInteger.flatMap { UInt16(exactly: $0) })
        }
        let leaveRule: LeaveRule? = values[9].asInteger.map { $0 < 0 ? .auto : .after(.nanoseconds($0)) }
        return Region(
            rid: rid, description: RegionDescription(name: name, pattern: pattern), timestamp: timestamp,
            coordinates: Coordinates(latitude: values[6].asReal ?? 0, longitude: values[7].asReal ?? 0),
            radius: values[8].asReal ?? 0, leaveRule: leaveRule, enterRSSI: values[10].asRSSI,
            leaveRSSI: values[11].asRSSI, extensionMembers: extensionMembers)
    }
}

extension SQLValue {
    fileprivate var asRSSI: RSSI? {
        asInteger.flatMap { Int8(exactly: $0) }.flatMap { RSSI(reported: $0) }
    }
}

/// One region of one tracker, at its place in the tracker's order.
struct RegionRow: StoredRow {
    static let table = "region"
    static let columns = ["tracker", "position"] + RegionColumns.names
    static let insertSQL = makeInsertSQL()

    let tracker: String
    let position: Int64
    let region: Region

    init(tracker: String, position: Int, region: Region) {
        self.tracker = tracker
        self.position = Int64(position)
        self.region = region
    }

    init?(values: [SQLValue]) {
        guard let tracker = values[0].asText, let position = values[1].asInteger,
            let region = RegionColumns.region(from: values[2...])
        else { return nil }
        self.tracker = tracker
        self.position = position
        self.region = region
    }

    var values: [SQLValue] {
        [.text(tracker), .integer(position)] + RegionColumns.values(of: region)
    }
}

/// An edit of the command line, until the service has merged it.
struct RegionEditRow: StoredRow {
    static let table = "region_edit"
    static let columns = ["id", "tracker", "kind"] + RegionColumns.names
    static let insertSQL = makeInsertSQL()
    /// Since which there is the table.
    static let schemaVersion = 2

    private enum Kind: Int64 {
        case set = 0
        case setWithDerivedRID = 1
        case remove = 2
    }

    let edit: RegionEdit

    init(_ edit: RegionEdit) { self.edit = edit }

    init?(values: [SQLValue]) {
        guard let id = values[0].asInteger, let tracker = values[1].asText,
            let kind = values[2].asInteger.flatMap(Kind.init(rawValue:))
        else { return nil }
        let change: RegionChange
        if kind == .remove {
            guard let rid = values[3].asText else { return nil }
            change = .remove(rid: rid)
        } else {
            guard let region = RegionColumns.region(from: values[3...]) else { return nil }
            change = .set(region, isRIDDerived: kind == .setWithDerivedRID)
        }
        edit = RegionEdit(id: id, tracker: tracker, change: change)
    }

    var values: [SQLValue] {
        let key: [SQLValue] = [.integer(edit.id), .text(edit.tracker)]
        switch edit.change {
        case .set(let region, let isRIDDerived):
            let kind: Kind = isRIDDerived ? .setWithDerivedRID : .set
            return key + [.integer(kind.rawValue)] + RegionColumns.values(of: region)
        case .remove(let rid):
            let empty = Array(repeating: SQLValue.null, count: RegionColumns.names.count - 1)
            return key + [.integer(Kind.remove.rawValue), .text(rid)] + empty
        }
    }
}
