import Base
import Beacon
import Regions

extension Row where Column: RegionColumn {
    /// `leave_after` of a region that asks for the learned rule. Other values are nanoseconds.
    private static var auto: Int64 { -1 }

    init(_ region: Region, of tracker: String) {
        let leaveAfter: SQLValue =
            switch region.leaveRule {
            case nil: .null
            case .auto: .integer(Self.auto)
            case .after(let duration): .integer(max(0, duration.nanoseconds))
            }
        let pattern = region.description.pattern
        self = [
            .tracker: .text(tracker), .rid: .text(region.rid), .name: .text(region.description.name),
            .uuid: .optional(pattern?.uuid.description), .major: .optional(pattern?.major),
            .minor: .optional(pattern?.minor), .tst: .integer(region.timestamp),
            .lat: .real(region.coordinates.latitude), .lon: .real(region.coordinates.longitude),
            .rad: .real(region.radius), .leaveAfter: leaveAfter, .enterRSSI: .optional(region.enterRSSI?.dBm),
            .leaveRSSI: .optional(region.leaveRSSI?.dBm), .extensionMembers: .text(region.extensionMembers),
        ]
    }

    var region: Region? {
        guard let rid = self[.rid].asText, let name = self[.name].asText, let timestamp = self[.tst].asInteger,
            let extensionMembers = self[.extensionMembers].asText
        else { return nil }
        var pattern: BeaconPattern?
        if let text = self[.uuid].asText {
            guard let uuid = BeaconUUID(text) else { return nil }
            pattern = BeaconPattern(
                uuid: uuid, major: self[.major].asInteger.flatMap { UInt16(exactly: $0) },
                minor: self[.minor].asInteger.flatMap { UInt16(exactly: $0) })
        }
        let leaveRule: LeaveRule? = self[.leaveAfter].asInteger.map { $0 < 0 ? .auto : .after(.nanoseconds($0)) }
        return Region(
            rid: rid, description: RegionDescription(name: name, pattern: pattern), timestamp: timestamp,
            coordinates: Coordinates(latitude: self[.lat].asReal ?? 0, longitude: self[.lon].asReal ?? 0),
            radius: self[.rad].asReal ?? 0, leaveRule: leaveRule, enterRSSI: self[.enterRSSI].asRSSI,
            leaveRSSI: self[.leaveRSSI].asRSSI, extensionMembers: extensionMembers)
    }
}

extension SQLValue {
    fileprivate var asRSSI: RSSI? {
        asInteger.flatMap { Int8(exactly: $0) }.flatMap { RSSI(reported: $0) }
    }
}

/// One region of one tracker.
struct RegionRow: StoredRow {
    enum Column: Int, RegionColumn {
        case tracker, position
        case rid, name, uuid, major, minor, tst, lat, lon, rad
        case leaveAfter, enterRSSI, leaveRSSI, extensionMembers
    }

    static let table = Table<Column>("region")

    let tracker: String
    /// Grows in the tracker's order. There are gaps where regions were removed, so that the regions behind them keep their
    /// rows.
    let position: Int64
    let region: Region

    init(tracker: String, position: Int64, region: Region) {
        self.tracker = tracker
        self.position = position
        self.region = region
    }

    init?(values: Row<Column>) {
        guard let tracker = values[.tracker].asText, let position = values[.position].asInteger,
            let region = values.region
        else { return nil }
        self.init(tracker: tracker, position: position, region: region)
    }

    var values: Row<Column> {
        var values = Row<Column>(region, of: tracker)
        values[.position] = .integer(position)
        return values
    }
}

extension Database {
    /// Makes these the tracker's regions, in this order. Only rows that differ are written.
    func replaceRegions(of tracker: ExactString, by regions: [Region]) throws(DatabaseError) {
        var stored = try storedRegions(of: tracker)
        var last: Int64 = -1
        for region in regions {
            let old = stored.removeValue(forKey: ExactString(region.rid))
            // A region keeps its position if it still stands behind the one before it.
            let kept = old?.position.flatMap { $0 > last ? $0 : nil }
            last = kept ?? last + 1
            let row = RegionRow(tracker: tracker.text, position: last, region: region)
            if row.boundValues != old?.boundValues { try insert(row) }
        }
        for rid in stored.keys {
            try run("DELETE FROM region WHERE tracker = ?1 AND rid = ?2", .text(tracker.text), .text(rid.text))
        }
    }

    /// What the rows of a tracker hold, by `rid`; a damaged row is never equal to a new one.
    private func storedRegions(
        of tracker: ExactString
    ) throws(DatabaseError) -> [ExactString: (position: Int64?, boundValues: [SQLValue])] {
        var stored: [ExactString: (position: Int64?, boundValues: [SQLValue])] = [:]
        let sql = "SELECT \(RegionRow.table.columnList) FROM region WHERE tracker = ?1"
        try forEachRow(sql, [.text(tracker.text)]) { statement throws(DatabaseError) in
            let values = Row<RegionRow.Column>(statement)
            guard let rid = values[.rid].asText else { return true }
            stored[ExactString(rid)] = (
                values[.position].asInteger, values.cells + [statement[values.cells.count]]
            )
            return true
        }
        return stored
    }
}
