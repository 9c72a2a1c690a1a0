import Base
import Beacon
import Presence

/// Presence as a value for the disk: the state of the presence engine, and which regions are occupied or
/// empty since when.
package struct KeptPresence: Hashable, Sendable {
    /// One region or circle that a tracker is inside, or one region that it left.
    struct Occupancy: Hashable {
        /// Index in `trackers`.
        var tracker: Int
        @ExactString var rid: String
        /// On the monotonic clock of the boot in which it was stored.
        var since: MonotonicInstant
        /// Seconds since 1970; nil if the wall clock was not known.
        var timestamp: Int64?
        /// Whether the tracker left the region then.
        var isOutside = false
        /// nil for a circle, and for a region that was left.
        var beacon: BeaconID?
        var rssi: RSSI?
    }

    /// The base topics of the trackers. Indices may change when the configuration is edited.
    var trackers: [String]
    var state: PresenceState
    var occupancies: [Occupancy]

    /// The changes of one transition. Indices of trackers refer to `trackers` of the whole state.
    struct Change {
        /// The beacons that came near or went away.
        var state: PresenceState
        /// The occupancies that began, and the regions that were left.
        var begun: [Occupancy]
        /// Circles that were left, and regions that no longer exist.
        var ended: [RegionKey]
    }
}

extension KeptPresence {
    /// The version of `bytes`, and their first byte. Version 1 has no circles, version 2 no regions that were left.
    package static let version: UInt8 = 3
    /// Versions that can be read.
    package static let readableVersions: ClosedRange<UInt8> = 1...3
    private static let mostTrackers = 10_000
    fileprivate static let mostOccupancies = 1_000_000

    package var bytes: [UInt8] { Self.bytes(trackers: trackers, occupancies: occupancies, state: state.bytes) }

    /// - Parameter state: Of the presence engine.
    static func bytes(trackers: [String], occupancies: [Occupancy], state: [UInt8]) -> [UInt8] {
        var writer = StateWriter(capacity: state.count + 128 * occupancies.count)
        writer.put(version)
        writer.put(trackers) { $0.put($1) }
        writer.put(occupancies) { $1.put(into: &$0) }
        writer.put(list: state)
        return writer.finish()
    }

    /// Reads `bytes`.
    ///
    /// - Returns: nil if they are of another version, or damaged. No bytes cause a trap.
    package init?(bytes: [UInt8]) {
        var reader = StateReader(bytes)
        do throws(StateReader.Malformed) {
            let version = try reader.read(UInt8.self)
            guard Self.readableVersions.contains(version) else { return nil }
            trackers = try reader.readList(most: Self.mostTrackers) { reader throws(StateReader.Malformed) in
                try reader.readText()
            }
            occupancies = try reader.readList(most: Self.mostOccupancies) { reader throws(StateReader.Malformed) in
                try Occupancy(from: &reader, version: version)
            }
            let inner = try reader.readBytes()
            guard reader.isAtEnd, let state = PresenceState(bytes: inner) else { return nil }
            self.state = state
        } catch {
            return nil
        }
    }
}

extension KeptPresence {
    /// - Parameters:
    ///   - bytes: The whole state.
    ///   - changes: The changes since, in their order.
    /// - Returns: nil if one of them is of another version, or damaged.
    package init?(bytes: [UInt8], changes: [[UInt8]]) {
        self.init(bytes: bytes)
        var read: [Change] = []
        for bytes in changes {
            guard let change = Change(bytes: bytes) else { return nil }
            read.append(change)
        }
        guard !read.isEmpty else { return }
        state.amend(by: read.map(\.state))
        var current: [RegionKey: Occupancy] = [:]
        for occupancy in occupancies { current[occupancy.key] = occupancy }
        for change in read {
            for key in change.ended { current[key] = nil }
            for occupancy in change.begun { current[occupancy.key] = occupancy }
        }
        occupancies = current.values.sorted { ($0.tracker, ExactString($0.rid)) < ($1.tracker, ExactString($1.rid)) }
    }
}

extension KeptPresence.Change {
    /// - Parameter state: Of the presence engine.
    static func bytes(begun: [KeptPresence.Occupancy], ended: [RegionKey], state: [UInt8]) -> [UInt8] {
        var writer = StateWriter(capacity: state.count + 128 * (begun.count + ended.count))
        writer.put(KeptPresence.version)
        writer.put(begun) { $1.put(into: &$0) }
        writer.put(ended) { writer, key in
            writer.put(Int32(clamping: key.tracker))
            writer.put(key.rid)
        }
        writer.put(list: state)
        return writer.finish()
    }

    init?(bytes: [UInt8]) {
        var reader = StateReader(bytes)
        do throws(StateReader.Malformed) {
            let version = try reader.read(UInt8.self)
            guard KeptPresence.readableVersions.contains(version) else { return nil }
            begun = try reader.readList(most: KeptPresence.mostOccupancies) { reader throws(StateReader.Malformed) in
                try KeptPresence.Occupancy(from: &reader, version: version)
            }
            ended = try reader.readList(most: KeptPresence.mostOccupancies) { reader throws(StateReader.Malformed) in
                RegionKey(tracker: Int(try reader.read(in: Int32(0)...Int32.max)), rid: try reader.readText())
            }
            let inner = try reader.readBytes()
            guard reader.isAtEnd, let state = PresenceState(bytes: inner) else { return nil }
            self.state = state
        } catch {
            return nil
        }
    }
}

extension KeptPresence.Occupancy {
    var key: RegionKey { RegionKey(tracker: tracker, rid: rid) }

    /// Seconds of a hundred years on both sides of 1970: as nanoseconds they do not overflow.
    private static let timestamps: ClosedRange<Int64> = -3_155_695_200...3_155_695_200

    /// What follows the time: 0 for a circle, `withBeacon` before a beacon, `outside` for a region that was left.
    private static let withBeacon: UInt8 = 1
    private static let outside: UInt8 = 2

    fileprivate func put(into writer: inout StateWriter) {
        writer.put(Int32(clamping: tracker))
        writer.put(rid)
        writer.put(since.nanoseconds)
        writer.put(timestamp.map { min(Self.timestamps.upperBound, max(Self.timestamps.lowerBound, $0)) })
        writer.put(isOutside ? Self.outside : beacon == nil ? 0 : Self.withBeacon)
        guard let beacon else { return }
        writer.put(beacon.uuid.high)
        writer.put(beacon.uuid.low)
        writer.put(beacon.major)
        writer.put(beacon.minor)
        writer.put(rssi?.dBm)
    }

    fileprivate init(from reader: inout StateReader, version: UInt8) throws(StateReader.Malformed) {
        tracker = Int(try reader.read(in: Int32(0)...Int32.max))
        rid = try reader.readText()
        since = MonotonicInstant(nanoseconds: try reader.read(in: (.min / 4)...(.max / 4)))
        timestamp = try reader.readOptional(in: Self.timestamps)
        let kinds = 0...(version == 2 ? Self.withBeacon : Self.outside)
        let kind = version == 1 ? Self.withBeacon : try reader.read(in: kinds)
        isOutside = kind == Self.outside
        guard kind == Self.withBeacon else { return }
        let uuid = BeaconUUID(high: try reader.read(), low: try reader.read())
        beacon = BeaconID(uuid: uuid, major: try reader.read(), minor: try reader.read())
        rssi = try reader.readOptional(in: Int8.min...Int8.max).flatMap { RSSI(reported: $0) }
    }
}
