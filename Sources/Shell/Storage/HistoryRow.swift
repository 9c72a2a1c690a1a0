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
