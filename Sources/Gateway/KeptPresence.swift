import Base
import Beacon
import Presence

/// Who is where, as a value to keep on disk: what the presence engine knows, and since when whom.
package struct KeptPresence: Hashable, Sendable {
    struct Stay: Hashable {
        /// Position in `trackers`.
        var tracker: Int
        @ExactString var rid: String
        /// On the clock of the boot in which it was kept.
        var since: MonotonicInstant
        /// Seconds since 1970, if they were known.
        var timestamp: Int64?
        /// nil for a circle.
        var beacon: BeaconID?
        var rssi: RSSI?
    }

    /// The base topics of the trackers: positions change when the configuration is edited.
    var trackers: [String]
    var state: PresenceState
    var stays: [Stay]

    /// What a transition changed in it. The trackers are those of what it changes.
    struct Change {
        /// Of the beacons that came near or went.
        var state: PresenceState
        /// Those that began.
        var begun: [Stay]
        var ended: [RegionKey]
    }
}

extension KeptPresence {
    /// Of the form of `bytes`; also their first byte. 1 knows no circles.
    package static let version: UInt8 = 2
    /// Forms that can be read.
    package static let readableVersions: ClosedRange<UInt8> = 1...2
    private static let mostTrackers = 10_000
    fileprivate static let mostStays = 1_000_000

    package var bytes: [UInt8] { Self.bytes(trackers: trackers, stays: stays, state: state.bytes) }

    /// - Parameter state: Of the presence engine.
    static func bytes(trackers: [String], stays: [Stay], state: [UInt8]) -> [UInt8] {
        var writer = StateWriter(capacity: state.count + 128 * stays.count)
        writer.put(version)
        writer.put(trackers) { $0.put($1) }
        writer.put(stays) { $1.put(into: &$0) }
        writer.put(list: state)
        return writer.finish()
    }

    /// Reads what `bytes` gave.
    ///
    /// - Returns: nil if this is something else: of another version, or damaged. Nothing traps.
    package init?(bytes: [UInt8]) {
        var reader = StateReader(bytes)
        do throws(StateReader.Malformed) {
            let version = try reader.take(UInt8.self)
            guard Self.readableVersions.contains(version) else { return nil }
            trackers = try reader.takeList(most: Self.mostTrackers) { reader throws(StateReader.Malformed) in
                try reader.takeText()
            }
            stays = try reader.takeList(most: Self.mostStays) { reader throws(StateReader.Malformed) in
                try Stay(from: &reader, version: version)
            }
            let inner = try reader.takeBytes()
            guard reader.isAtEnd, let state = PresenceState(bytes: inner) else { return nil }
            self.state = state
        } catch {
            return nil
        }
    }
}

extension KeptPresence {
    /// - Parameters:
    ///   - bytes: What `bytes` gave.
    ///   - changes: Bytes of the changes since, in their order.
    /// - Returns: nil if one of them is something else.
    package init?(bytes: [UInt8], changes: [[UInt8]]) {
        self.init(bytes: bytes)
        var read: [Change] = []
        for bytes in changes {
            guard let change = Change(bytes: bytes) else { return nil }
            read.append(change)
        }
        guard !read.isEmpty else { return }
        state.amend(by: read.map(\.state))
        var current: [RegionKey: Stay] = [:]
        for stay in stays { current[stay.key] = stay }
        for change in read {
            for key in change.ended { current[key] = nil }
            for stay in change.begun { current[stay.key] = stay }
        }
        stays = current.values.sorted { ($0.tracker, ExactString($0.rid)) < ($1.tracker, ExactString($1.rid)) }
    }
}

extension KeptPresence.Change {
    /// - Parameter state: Of the presence engine.
    static func bytes(begun: [KeptPresence.Stay], ended: [RegionKey], state: [UInt8]) -> [UInt8] {
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
            let version = try reader.take(UInt8.self)
            guard KeptPresence.readableVersions.contains(version) else { return nil }
            begun = try reader.takeList(most: KeptPresence.mostStays) { reader throws(StateReader.Malformed) in
                try KeptPresence.Stay(from: &reader, version: version)
            }
            ended = try reader.takeList(most: KeptPresence.mostStays) { reader throws(StateReader.Malformed) in
                RegionKey(tracker: Int(try reader.take(in: Int32(0)...Int32.max)), rid: try reader.takeText())
            }
            let inner = try reader.takeBytes()
            guard reader.isAtEnd, let state = PresenceState(bytes: inner) else { return nil }
            self.state = state
        } catch {
            return nil
        }
    }
}

extension KeptPresence.Stay {
    var key: RegionKey { RegionKey(tracker: tracker, rid: rid) }

    /// Seconds of a hundred years on both sides of 1970: as nanoseconds they do not overflow.
    private static let timestamps: ClosedRange<Int64> = -3_155_695_200...3_155_695_200

    fileprivate func put(into writer: inout StateWriter) {
        writer.put(Int32(clamping: tracker))
        writer.put(rid)
        writer.put(since.nanoseconds)
        writer.put(timestamp.map { min(Self.timestamps.upperBound, max(Self.timestamps.lowerBound, $0)) })
        writer.put(UInt8(beacon == nil ? 0 : 1))
        guard let beacon else { return }
        writer.put(beacon.uuid.high)
        writer.put(beacon.uuid.low)
        writer.put(beacon.major)
        writer.put(beacon.minor)
        writer.put(rssi?.dBm)
    }

    fileprivate init(from reader: inout StateReader, version: UInt8) throws(StateReader.Malformed) {
        tracker = Int(try reader.take(in: Int32(0)...Int32.max))
        rid = try reader.takeText()
        since = MonotonicInstant(nanoseconds: try reader.take(in: (.min / 4)...(.max / 4)))
        timestamp = try reader.takeOptional(in: Self.timestamps)
        let hasBeacon = version == 1 ? 1 : try reader.take(in: UInt8(0)...1)
        guard hasBeacon == 1 else { return }
        let uuid = BeaconUUID(high: try reader.take(), low: try reader.take())
        beacon = BeaconID(uuid: uuid, major: try reader.take(), minor: try reader.take())
        rssi = try reader.takeOptional(in: Int8.min...Int8.max).flatMap { RSSI(reported: $0) }
    }
}
