internal import Beacon
internal import Presence

/// Who is where, as a value to keep on disk: what the presence engine knows, and since when whom.
package struct KeptPresence: Hashable, Sendable {
    struct Stay: Hashable {
        /// Position in `trackers`.
        var tracker: Int
        var rid: String
        /// On the clock of the boot in which it was kept.
        var since: MonotonicInstant
        /// Seconds since 1970, if they were known.
        var timestamp: Int64?
        var beacon: BeaconID
        var rssi: RSSI?
    }

    /// The base topics of the trackers: positions change when the configuration is edited.
    var trackers: [String]
    var state: PresenceState
    var stays: [Stay]
}

extension KeptPresence {
    /// Of the form of `bytes`; also their first byte.
    package static let version: UInt8 = 1
    private static let mostTrackers = 10_000
    private static let mostStays = 1_000_000

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
            guard try reader.take(UInt8.self) == Self.version else { return nil }
            trackers = try reader.takeList(most: Self.mostTrackers) { reader throws(StateReader.Malformed) in
                try reader.takeText()
            }
            stays = try reader.takeList(most: Self.mostStays) { reader throws(StateReader.Malformed) in
                try Stay(from: &reader)
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
    /// Seconds of a hundred years on both sides of 1970: as nanoseconds they do not overflow.
    private static let timestamps: ClosedRange<Int64> = -3_155_695_200...3_155_695_200

    fileprivate func put(into writer: inout StateWriter) {
        writer.put(Int32(clamping: tracker))
        writer.put(rid)
        writer.put(since.nanoseconds)
        writer.put(timestamp.map { min(Self.timestamps.upperBound, max(Self.timestamps.lowerBound, $0)) })
        writer.put(beacon.uuid.high)
        writer.put(beacon.uuid.low)
        writer.put(beacon.major)
        writer.put(beacon.minor)
        writer.put(rssi?.dBm)
    }

    fileprivate init(from reader: inout StateReader) throws(StateReader.Malformed) {
        tracker = Int(try reader.take(in: Int32(0)...Int32.max))
        rid = try reader.takeText()
        since = MonotonicInstant(nanoseconds: try reader.take(in: (.min / 4)...(.max / 4)))
        timestamp = try reader.takeOptional(in: Self.timestamps)
        let uuid = BeaconUUID(high: try reader.take(), low: try reader.take())
        beacon = BeaconID(uuid: uuid, major: try reader.take(), minor: try reader.take())
        rssi = try reader.takeOptional(in: Int8.min...Int8.max).flatMap { RSSI(reported: $0) }
    }
}
