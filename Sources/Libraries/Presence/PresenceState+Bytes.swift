package import Base
import Beacon

extension PresenceState {
    /// The first byte of `bytes`. Another form gets another number. Version 1 has no absences, version 2 no slow-downs,
    /// and version 3 no joint models.
    fileprivate static let version: UInt8 = 4
    /// Ten years in nanoseconds: no silence that matters is longer, and sums of them do not overflow.
    private static let longestSilence: Int64 = 10 * 365 * 86_400 * 1_000_000_000
    /// A bound on the regions of one beacon, above any real number.
    private static let mostMemberships = 100_000

    /// The state as bytes for the disk; `init(bytes:)` reads it.
    package var bytes: [UInt8] {
        var writer = StateWriter(capacity: 256 * beacons.count)
        writer.put(Self.version)
        writer.put(beacons) { writer, beacon in beacon.put(into: &writer) }
        writer.put(absences) { $1.put(into: &$0) }
        writer.put(slowingUUIDs) { $0.put($1) }
        return writer.finish()
    }

    /// Reads what `bytes` gave.
    ///
    /// - Returns: nil if the bytes are of another version, or damaged. No bytes cause a trap, here or when the state is
    ///   restored.
    package init?(bytes: [UInt8]) {
        var reader = StateReader(bytes)
        do throws(StateReader.Malformed) {
            let version = try reader.read(UInt8.self)
            guard 1...Self.version ~= version else { return nil }
            beacons = try reader.readList(most: BeaconTable.mostPlaces) { reader throws(StateReader.Malformed) in
                try Beacon(from: &reader, version: version)
            }
            absences = []
            if version >= 2 {
                absences = try reader.readList(most: 256) { reader throws(StateReader.Malformed) in
                    Absence(receiver: try reader.read(), missed: try reader.read(in: Self.silences))
                }
            }
            slowingUUIDs = []
            if version >= 3 {
                slowingUUIDs = try reader.readList(most: BeaconTable.mostPlaces) {
                    reader throws(StateReader.Malformed) in
                    BeaconUUID(high: try reader.read(), low: try reader.read())
                }
            }
        } catch {
            return nil
        }
        guard reader.isAtEnd else { return nil }
    }

    fileprivate static func clamped(_ silence: Int64) -> Int64 { min(longestSilence, max(0, silence)) }
    fileprivate static var silences: ClosedRange<Int64> { 0...longestSilence }
    /// One byte numbers the receivers. Those beyond `PresenceEngine.mostReceivers` are not restored.
    fileprivate static var receiverLimit: Int { 256 }
    fileprivate static var membershipLimit: Int { mostMemberships }
}

extension PresenceEngine {
    /// The bytes of `state(at:mostAbsent:)`, made without that value.
    package func stateBytes(at now: MonotonicInstant, mostAbsent: Int = .max) -> [UInt8] {
        let places = placesToKeep(at: now, mostAbsent: mostAbsent)
        return bytes(count: places.count, slowingUUIDs: sortedSlowingUUIDs, at: now) { writer in
            for place in places { put(place, at: now, into: &writer) }
        }
    }

    /// From now on the engine records which beacons become near or far, for `changedStateBytes`.
    package mutating func beginRecordingChanges() { changedBeacons = [] }

    /// The bytes of a state that contains only the beacons that became near or far somewhere since
    /// `beginRecordingChanges`, or since the last call. They are stored with each transition, so that a transition does
    /// not wait for the state of all beacons.
    ///
    /// - Returns: nil if the changes were not recorded, or are too many.
    package mutating func changedStateBytes(at now: MonotonicInstant) -> [UInt8]? {
        guard let changedBeacons else { return nil }
        self.changedBeacons = []
        var seen: Set<BeaconID> = []
        let beacons = changedBeacons.filter { seen.insert($0).inserted }
        return bytes(count: beacons.count, slowingUUIDs: [], at: now) { writer in
            for beacon in beacons {
                if let place = table.place(of: beacon, in: tracked) {
                    put(place, at: now, into: &writer)
                } else {
                    // The beacon was forgotten meanwhile. Without receivers it is not restored.
                    PresenceState.Beacon.put(beacon, into: &writer)
                    writer.putList { _ in 0 }
                    PresenceState.Joint.put(nil, into: &writer)
                    writer.putList { _ in 0 }
                }
            }
        }
    }

    /// - Parameter put: Writes `count` beacons.
    private func bytes(
        count: Int, slowingUUIDs: [BeaconUUID], at now: MonotonicInstant, _ put: (inout StateWriter) -> Void
    ) -> [UInt8] {
        var writer = StateWriter(capacity: 256 * count)
        writer.put(PresenceState.version)
        writer.put(UInt32(clamping: count))
        put(&writer)
        writer.put(absences(at: now)) { $1.put(into: &$0) }
        writer.put(slowingUUIDs) { $0.put($1) }
        return writer.finish()
    }

    private func put(_ place: Int, at now: MonotonicInstant, into writer: inout StateWriter) {
        PresenceState.Beacon.put(tracked[place].beacon, into: &writer)
        writer.putList { writer in forEachLink(of: place, at: now) { $0.put(into: &writer) } }
        PresenceState.Joint.put(joint(of: place, at: now), into: &writer)
        writer.putList { writer in forEachMembership(of: place, at: now) { $0.put(into: &writer) } }
    }
}

extension PresenceState.Absence {
    fileprivate func put(into writer: inout StateWriter) {
        writer.put(receiver)
        writer.put(PresenceState.clamped(missed))
    }
}

extension PresenceState.Link {
    fileprivate func put(into writer: inout StateWriter) {
        writer.put(receiver)
        writer.put(PresenceState.clamped(silence))
        model.put(into: &writer)
    }
}

extension PresenceState.Joint {
    /// nil as a byte 0, a value after a byte 1.
    fileprivate static func put(_ joint: Self?, into writer: inout StateWriter) {
        writer.put(joint != nil)
        guard let joint else { return }
        writer.put(PresenceState.clamped(joint.silence))
        joint.model.put(into: &writer)
    }

    fileprivate static func read(
        from reader: inout StateReader, version: UInt8
    ) throws(StateReader.Malformed) -> Self? {
        guard try reader.readBool() else { return nil }
        return Self(
            silence: try reader.read(in: PresenceState.silences),
            model: try ArrivalModel(from: &reader, version: version))
    }
}

extension PresenceState.Membership {
    fileprivate func put(into writer: inout StateWriter) {
        writer.put(Int32(clamping: tracker))
        writer.put(rid)
        writer.put(isNear)
        writer.put(crossingTime.map(PresenceState.clamped))
        writer.put(receiver)
    }
}

extension StateWriter {
    fileprivate mutating func put(_ uuid: BeaconUUID) {
        put(uuid.high)
        put(uuid.low)
    }
}

extension PresenceState.Beacon {
    fileprivate func put(into writer: inout StateWriter) {
        Self.put(id, into: &writer)
        writer.put(links) { $1.put(into: &$0) }
        PresenceState.Joint.put(joint, into: &writer)
        writer.put(memberships) { $1.put(into: &$0) }
    }

    fileprivate static func put(_ beacon: BeaconID, into writer: inout StateWriter) {
        writer.put(beacon.uuid)
        writer.put(beacon.major)
        writer.put(beacon.minor)
    }

    fileprivate init(from reader: inout StateReader, version: UInt8) throws(StateReader.Malformed) {
        uuidHigh = try reader.read()
        uuidLow = try reader.read()
        major = try reader.read()
        minor = try reader.read()
        links = try reader.readList(most: PresenceState.receiverLimit) { reader throws(StateReader.Malformed) in
            let receiver = try reader.read(UInt8.self)
            let silence = try reader.read(in: PresenceState.silences)
            return PresenceState.Link(
                receiver: receiver, silence: silence, model: try ArrivalModel(from: &reader, version: version))
        }
        joint = version >= 4 ? try PresenceState.Joint.read(from: &reader, version: version) : nil
        memberships = try reader.readList(most: PresenceState.membershipLimit) {
            reader throws(StateReader.Malformed) in
            PresenceState.Membership(
                tracker: Int(try reader.read(in: Int32(0)...Int32.max)), rid: try reader.readText(),
                isNear: try reader.readBool(), crossingTime: try reader.readOptional(in: PresenceState.silences),
                receiver: try reader.read())
        }
    }
}
