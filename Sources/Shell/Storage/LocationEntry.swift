package import Base

/// One location that was published, or would have been if there were a broker.
package struct LocationEntry: Hashable, Sendable {
    /// The base topic of the tracker.
    package var tracker: String
    /// Degrees.
    package var latitude: Double
    /// Degrees.
    package var longitude: Double
    /// Metres.
    package var accuracy: Int64
    /// Why it was published: the message's `t`.
    package var trigger: String
    /// Epoch seconds; invalid while `stamp` is `provisional`.
    package var timestamp: Int64
    package var stamp: WallStamp
    package var happened: MonotonicInstant

    package init(
        tracker: String, latitude: Double, longitude: Double, accuracy: Int64, trigger: String, timestamp: Int64,
        stamp: WallStamp, happened: MonotonicInstant
    ) {
        self.tracker = tracker
        self.latitude = latitude
        self.longitude = longitude
        self.accuracy = accuracy
        self.trigger = trigger
        self.timestamp = timestamp
        self.stamp = stamp
        self.happened = happened
    }
}

/// A location with its key and the boot of its monotonic stamp.
struct LocationRow: StoredRow {
    enum Column: Int, ResultColumn {
        case id, tracker, lat, lon, acc, cause, tst, stamp, boot, happened
    }

    static let table = Table<Column>("location")
    /// The schema version that added the table.
    static let schemaVersion = 6

    let id: Int64
    var entry: LocationEntry
    let boot: String

    init(id: Int64, entry: LocationEntry, boot: String) {
        self.id = id
        self.entry = entry
        self.boot = boot
    }

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
        entry = LocationEntry(
            tracker: tracker, latitude: latitude, longitude: longitude, accuracy: accuracy, trigger: trigger,
            timestamp: timestamp, stamp: stamp, happened: MonotonicInstant(nanoseconds: happened))
    }

    var values: Row<Column> {
        [
            .id: .integer(id), .tracker: .text(entry.tracker), .lat: .real(entry.latitude),
            .lon: .real(entry.longitude), .acc: .integer(entry.accuracy), .cause: .text(entry.trigger),
            .tst: .integer(entry.timestamp), .stamp: .integer(entry.stamp.rawValue), .boot: .text(boot),
            .happened: .integer(entry.happened.nanoseconds),
        ]
    }
}
