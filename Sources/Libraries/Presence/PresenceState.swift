package import Base
package import Beacon
import Regions

/// The whole state of the engine as a value, for storing and restoring.
///
/// It contains silences and no instants, because the monotonic clock starts at 0 with each boot. A receiver is stored as one
/// byte, so what receivers from 256 on heard is left out: no machine has as many adapters, and the engine of a site, which has
/// more gateways, is not stored.
package struct PresenceState: Hashable, Sendable {
    /// One beacon at one receiver.
    package struct Link: Hashable, Sendable {
        package var receiver: UInt8
        /// Nanoseconds of listening silence so far.
        package var silence: Int64
        package var model: ArrivalModel
    }

    /// One beacon at all its receivers together.
    package struct Joint: Hashable, Sendable {
        /// Nanoseconds for which no receiver has heard the beacon while all listened.
        package var silence: Int64
        package var model: ArrivalModel
    }

    /// One region in which the beacon is near, or whose threshold it is crossing.
    package struct Membership: Hashable, Sendable {
        package var tracker: Int
        @ExactString package var rid: String
        package var isNear: Bool
        /// Nanoseconds for which the level has been beyond the threshold, on the clock of `receiver`.
        package var crossingTime: Int64?
        package var receiver: UInt8
    }

    package struct Beacon: Hashable, Sendable {
        package var uuidHigh: UInt64
        package var uuidLow: UInt64
        package var major: UInt16
        package var minor: UInt16
        package var links: [Link]
        /// nil if the beacon has one receiver, or if an older version wrote the state.
        package var joint: Joint?
        package var memberships: [Membership]
    }

    /// A receiver that is known and does not listen.
    package struct Absence: Hashable, Sendable {
        package var receiver: UInt8
        /// Nanoseconds that others have listened since the receiver ceased to listen.
        package var missed: Int64
    }

    /// In the order in which they were first heard.
    package var beacons: [Beacon]
    /// By number of the receiver.
    package var absences: [Absence]
    /// The UUIDs of which a beacon slowed down, in ascending order. A state of changes need not contain them: the models
    /// of its beacons do.
    package var slowingUUIDs: [BeaconUUID] = []
}

extension PresenceState {
    /// Replaces the beacons that later states contain. The other beacons stay as they are.
    package mutating func amend(by changes: [PresenceState]) {
        var places: [BeaconID: Int] = [:]
        for (place, beacon) in beacons.enumerated() { places[beacon.id] = place }
        for change in changes {
            for beacon in change.beacons {
                if let place = places[beacon.id] {
                    beacons[place] = beacon
                } else {
                    places[beacon.id] = beacons.count
                    beacons.append(beacon)
                }
            }
            absences = change.absences
        }
    }
}

extension PresenceState.Beacon {
    /// Whether the beacon, or another one of its UUID, slowed down.
    var slowsDown: Bool { links.contains { $0.model.slowDowns.slowsDown } }

    var id: BeaconID { BeaconID(uuid: BeaconUUID(high: uuidHigh, low: uuidLow), major: major, minor: minor) }
}

extension PresenceEngine {
    /// The state to store. An engine with the same regions that restores it continues without a difference.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - mostAbsent: The bound on beacons that are nowhere near; those heard last are stored. What the engine has
    ///     learned of them is useful, but a sender that invents identities must not make every write large.
    package func state(at now: MonotonicInstant, mostAbsent: Int = .max) -> PresenceState {
        PresenceState(
            beacons: placesToKeep(at: now, mostAbsent: mostAbsent).map { state(of: $0, at: now) },
            absences: absences(at: now), slowingUUIDs: sortedSlowingUUIDs)
    }

    var sortedSlowingUUIDs: [BeaconUUID] { slowingUUIDs.sorted { ($0.high, $0.low) < ($1.high, $1.low) } }

    func absences(at now: MonotonicInstant) -> [PresenceState.Absence] {
        clock.absences(at: now).compactMap { receiver, missed in
            UInt8(exactly: receiver.index).map { PresenceState.Absence(receiver: $0, missed: missed) }
        }
    }

    /// The beacons that are near, and at most `mostAbsent` others, those heard last; in their order.
    func placesToKeep(at now: MonotonicInstant, mostAbsent: Int) -> [Int] {
        var room = mostAbsent
        let longest = longestSilence(ofAbsent: mostAbsent, at: now)
        return tracked.indices.filter { place in
            guard tracked[place].nearCount == 0 else { return true }
            guard room > 0, silence(of: place, at: now) <= longest else { return false }
            room -= 1
            return true
        }
    }

    /// The longest silence among the `most` beacons that are nowhere near and were heard last.
    private func longestSilence(ofAbsent most: Int, at now: MonotonicInstant) -> Int64 {
        var silences: [Int64] = []
        for place in tracked.indices where tracked[place].nearCount == 0 {
            silences.append(silence(of: place, at: now))
        }
        guard silences.count > most else { return .max }
        guard most > 0 else { return -1 }
        silences.sort()
        return silences[most - 1]
    }

    /// Nanoseconds since any receiver heard the beacon, in that receiver's listening time.
    func silence(of place: Int, at now: MonotonicInstant) -> Int64 {
        var shortest = Int64.max
        var index = tracked[place].link
        while index >= 0 {
            let link = link(index, of: place)
            shortest = min(shortest, silence(of: link, at: now))
            index = Int(link.next)
        }
        return shortest
    }

    private func silence(of link: Link, at now: MonotonicInstant) -> Int64 {
        let start = max(link.model.lastHeard, clock.silenceStart(of: link.receiver))
        return clock.time(of: link.receiver, at: now) - start
    }

    /// Restores a stored state. The caller sets the regions first, and calls it once, before the first sighting.
    ///
    /// A beacon that was inside is inside without a new enter; the time between does not count as silence. A receiver
    /// that does not return in time no longer keeps beacons inside (`PresenceTiming.orphanGrace`).
    ///
    /// - Returns: leaves of regions that no longer exist.
    package mutating func restore(_ state: PresenceState, at now: MonotonicInstant) -> [Effect] {
        var effects: [Effect] = []
        for absence in state.absences {
            clock.resume(absenceOf: Receiver(index: UInt16(absence.receiver)), missed: max(0, absence.missed), at: now)
        }
        clock.restoreJointSilence()
        var gone: [RegionKey: BeaconID] = [:]
        for kept in state.beacons where !kept.links.isEmpty {
            guard table.place(of: kept.id, in: tracked) == nil else { continue }
            let wanted = restore(kept, at: now)
            for membership in kept.memberships where membership.isNear {
                let key = RegionKey(tracker: membership.tracker, rid: membership.rid)
                if !wanted.contains(key) { gone[key] = kept.id }
            }
        }
        for (key, beacon) in gone.sorted(by: {
            ($0.key.tracker, ExactString($0.key.rid)) < ($1.key.tracker, ExactString($1.key.rid))
        })
        where !isOccupied(key) {
            effects.append(.left(key, last: beacon, because: .region))
        }
        let slowing = state.slowingUUIDs + state.beacons.filter(\.slowsDown).map(\.id.uuid)
        for uuid in Set(slowing).intersection(patterns.map(\.uuid)) { expectSlowDown(of: uuid) }
        expireAll(at: now, &effects)
        return effects
    }

    private func state(of place: Int, at now: MonotonicInstant) -> PresenceState.Beacon {
        let id = tracked[place].beacon
        var beacon = PresenceState.Beacon(
            uuidHigh: id.uuid.high, uuidLow: id.uuid.low, major: id.major, minor: id.minor, links: [], memberships: [])
        forEachLink(of: place, at: now) { beacon.links.append($0) }
        beacon.joint = joint(of: place, at: now)
        forEachMembership(of: place, at: now) { beacon.memberships.append($0) }
        return beacon
    }

    /// What the receivers know together; nil if there is only one, or if they do not decide jointly.
    func joint(of place: Int, at now: MonotonicInstant) -> PresenceState.Joint? {
        guard var model = jointModel(of: place) else { return nil }
        let silence = jointSilence(model, at: now)
        model.setLastHeard(0)
        return PresenceState.Joint(silence: silence, model: model)
    }

    /// - Returns: The number of links.
    @discardableResult
    func forEachLink(of place: Int, at now: MonotonicInstant, _ body: (PresenceState.Link) -> Void) -> Int {
        var count = 0
        var index = tracked[place].link
        while index >= 0 {
            let link = link(index, of: place)
            index = Int(link.next)
            guard let receiver = UInt8(exactly: link.receiver.index) else { continue }
            var model = link.model
            // Only the silence matters. Otherwise equal states would differ by the time of the boot.
            model.setLastHeard(0)
            body(PresenceState.Link(receiver: receiver, silence: silence(of: link, at: now), model: model))
            count += 1
        }
        return count
    }

    /// The regions in which the beacon is near, or whose threshold it is crossing.
    ///
    /// - Returns: The number of these regions.
    @discardableResult
    func forEachMembership(
        of place: Int, at now: MonotonicInstant, _ body: (PresenceState.Membership) -> Void
    ) -> Int {
        var count = 0
        var index = tracked[place].membership
        while index >= 0 {
            let member = membership(index, of: place)
            let listened = clock.time(of: Receiver(index: member.receiver), at: now)
            let receiver = UInt8(exactly: member.receiver)
            let crossingTime = receiver == nil ? nil : member.crossingTime(at: listened)
            if member.isNear || crossingTime != nil {
                let key = keys[Int(member.region)]
                body(
                    PresenceState.Membership(
                        tracker: key.tracker, rid: key.rid, isNear: member.isNear, crossingTime: crossingTime,
                        receiver: crossingTime == nil ? 0 : receiver ?? 0))
                count += 1
            }
            index = Int(member.next)
        }
        return count
    }

    /// - Returns: the regions that the beacon still belongs to.
    mutating func restore(_ kept: PresenceState.Beacon, at now: MonotonicInstant) -> Set<RegionKey> {
        let id = kept.id
        var found = matches(of: id)
        guard !found.isEmpty, !kept.links.isEmpty, tracked.count < BeaconTable.mostPlaces else { return [] }
        var before: [RegionKey: PresenceState.Membership] = [:]
        for membership in kept.memberships {
            before[RegionKey(tracker: membership.tracker, rid: membership.rid)] = membership
        }
        if !places.reserve(for: found) {
            // A beacon that was near keeps its place.
            found = found.filter { before[keys[Int($0)]]?.isNear == true }
            guard !found.isEmpty else { return [] }
            places.keep(found)
        }
        var chain = kept.links.prefix(mostReceivers).map { link in
            let receiver = Receiver(index: UInt16(link.receiver))
            var model = link.model
            model.setLastHeard(clock.time(of: receiver, at: now) - max(0, link.silence))
            return Link(model: model, receiver: receiver)
        }
        for offset in chain.indices.dropLast() { chain[offset].next = Int32(truncatingIfNeeded: links.count + offset) }
        links += chain.dropFirst()
        var beacon = TrackedBeacon(beacon: id, ownLink: chain[0], ownMembership: makeMemberships(in: found))
        if decidesJointly, chain.count > 1 {
            var joint = kept.joint?.model ?? ArrivalModel(at: 0, rssi: nil, duty: clock.leastDuty)
            joint.setLastHeard(clock.timeOfAny(at: now) - max(0, kept.joint?.silence ?? 0))
            beacon.joint = addJoint(joint)
        }
        add(beacon)
        let place = tracked.count - 1
        var wanted: Set<RegionKey> = []
        var index = TrackedBeacon.own
        while index >= 0 {
            let region = Int(membership(index, of: place).region)
            let key = keys[region]
            wanted.insert(key)
            if let kept = before[key] {
                if kept.isNear { comeNear(index, of: place) }
                if let crossingTime = kept.crossingTime, rules[region].threshold(isNear: kept.isNear) != nil {
                    let listened = clock.time(of: Receiver(index: UInt16(kept.receiver)), at: now)
                    var member = membership(index, of: place)
                    member.setCrossing(for: crossingTime, by: UInt16(kept.receiver), at: listened)
                    setMembership(index, of: place, to: member)
                }
            }
            index = Int(membership(index, of: place).next)
        }
        return wanted
    }
}
