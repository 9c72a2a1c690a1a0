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
    static let table = "location"
    static let columns = ["id", "tracker", "lat", "lon", "acc", "cause", "tst", "stamp", "boot", "happened"]
    static let insertSQL = makeInsertSQL()
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

    init?(values: [SQLValue]) {
        guard let id = values[0].asInteger, let tracker = values[1].asText, let latitude = values[2].asReal,
            let longitude = values[3].asReal, let accuracy = values[4].asInteger, let trigger = values[5].asText,
            let timestamp = values[6].asInteger, let stamp = values[7].asInteger.flatMap(WallStamp.init(rawValue:)),
            let boot = values[8].asText, let happened = values[9].asInteger
        else { return nil }
        self.id = id
        self.boot = boot
        entry = LocationEntry(
            tracker: tracker, latitude: latitude, longitude: longitude, accuracy: accuracy, trigger: trigger,
            timestamp: timestamp, stamp: stamp, happened: MonotonicInstant(nanoseconds: happened))
    }

    var values: [SQLValue] {
        [
            .integer(id), .text(entry.tracker), .real(entry.latitude), .real(entry.longitude),
            .integer(entry.accuracy), .text(entry.trigger), .integer(entry.timestamp),
            .integer(entry.stamp.rawValue), .text(boot), .integer(entry.happened.nanoseconds),
        ]
    }
}
