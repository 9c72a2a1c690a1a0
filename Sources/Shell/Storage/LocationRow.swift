import Base
import Regions

/// A location with its key and the boot of its monotonic stamp.
struct LocationRow: StoredRow {
    enum Column: Int, ResultColumn {
        case id, tracker, lat, lon, acc, cause, tst, stamp, boot, happened
    }

    static let table = Table<Column>("location")
    /// The schema version that added the table.
    static let schemaVersion = 6

    let id: Int64
    var entry: PastLocation
    let boot: String
}

extension LocationRow {
    init?(values: Row<Column>) {
        guard let id = values[.id].asInteger, let tracker = values[.tracker].asText,
            let latitude = values[.lat].asReal, let longitude = values[.lon].asReal,
            let accuracy = values[.acc].asInteger, let trigger = values[.cause].asText,
            let timestamp = values[.tst].asInteger,
            let stamp = values[.stamp].asInteger.flatMap(WallStamp.init(rawValue:)),
            let boot = values[.boot].asText, let happened = values[.happened].asInteger
        else { return nil }
        self.id = id
        self.boot = boot
        entry = PastLocation(
            tracker: tracker, coordinates: Coordinates(latitude: latitude, longitude: longitude), accuracy: accuracy,
            trigger: trigger, timestamp: timestamp, stamp: stamp, happened: MonotonicInstant(nanoseconds: happened))
    }

    var values: Row<Column> {
        [
            .id: .integer(id), .tracker: .text(entry.tracker), .lat: .real(entry.coordinates.latitude),
            .lon: .real(entry.coordinates.longitude), .acc: .integer(entry.accuracy), .cause: .text(entry.trigger),
            .tst: .integer(entry.timestamp), .stamp: .integer(entry.stamp.rawValue), .boot: .text(boot),
            .happened: .integer(entry.happened.nanoseconds),
        ]
    }
}
