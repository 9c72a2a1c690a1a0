import Base
import Configuration
import JSON
import OwnTracks
import Presence
import Regions

/// Makes the messages of trackers: the topic, the payload, the quality of service, and the time that a message bears.
///
/// It knows the settings, the wall clock and the instant of the input that is handled. Whether an event may be published, the
/// tracker decides.
struct Messages {
    let settings: Configuration
    let clock: WallClock
    let now: MonotonicInstant

    /// The time of day, epoch seconds; nil: it is not known.
    var epoch: Int64? { clock.isKnown ? clock.epochSeconds(at: now) : nil }

    // MARK: - Transitions and states

    /// The line of history of a transition.
    func record(of transition: PendingTransition, _ tracker: TrackerState) -> PastTransition {
        PastTransition(
            tracker: tracker.topics.base, trackerID: tracker.configuration.trackerID,
            trackerName: tracker.configuration.name, rid: transition.key.rid, name: transition.region.displayName,
            event: transition.isEnter ? .enter : .leave,
            beacon: transition.beacon, rssi: transition.rssi, timestamp: clock.epochSeconds(at: transition.instant),
            stamp: clock.stamp, happened: transition.instant)
    }

    func transition(_ record: PastTransition, in region: Region, of tracker: TrackerState) -> Gateway.Effect {
        let here = tracker.position(standing: settings.position)
        let away = record.isEnter ? nil : tracker.configuration.away
        let transition = Transition(
            record.event, of: region, trackerID: tracker.configuration.trackerID,
            position: record.beacon == nil ? here : away ?? settings.position, timestamp: record.timestamp,
            // Of a crowd, a transition may have waited for its turn.
            createdAt: epoch ?? record.timestamp)
        return publish(.transition, of: tracker, on: tracker.topics.event, transition.payload, at: record.happened)
    }

    /// The enter of a region again, with its original time; nothing if it was left meanwhile. A repeated enter does no harm.
    func repeatedEnter(of region: Region, _ tracker: TrackerState) -> [Gateway.Effect] {
        guard tracker.mayPublish(.transition, at: now), let begin = tracker.begin(of: region.rid) else { return [] }
        let since = begin.timestamp(by: clock)
        let place = region.kind == .circular ? tracker.position(standing: settings.position) : settings.position
        let transition = Transition(
            .enter, of: region, trackerID: tracker.configuration.trackerID, position: place, timestamp: since,
            createdAt: epoch ?? since)
        // It bears the time of the enter, whenever it is published.
        return [
            publish(
                .transition, of: tracker, on: tracker.topics.event, transition.payload,
                isTimeKnown: begin.isTimeKnown(by: clock), at: begin.since)
        ]
    }

    /// The retained state of one region, for consumers that connect later.
    ///
    /// - Parameter instant: Of the transition that changed it, or now.
    /// - Returns: nothing where the states are withheld.
    func state(of region: Region, _ tracker: TrackerState, at instant: MonotonicInstant) -> [Gateway.Effect] {
        guard !tracker.hidesStates(by: settings, at: instant) else { return [] }
        let occupancy = tracker.occupancy[region.rid]
        let begin = occupancy?.begin ?? tracker.absences[region.rid]
        let state = RegionState(
            isInside: occupancy != nil, since: begin?.timestamp(by: clock) ?? clock.epochSeconds(at: instant),
            description: region.displayName, rssi: occupancy?.rssi)
        return [
            publish(
                .state, of: tracker, on: DeviceTopics.region(device: tracker.configuration.deviceID, rid: region.rid),
                state.payload, isRetained: true,
                // The state bears the time of the enter or leave, whenever it is published.
                isTimeKnown: begin?.isTimeKnown(by: clock), at: begin?.since ?? instant)
        ]
    }

    /// Empties the retained state of a removed region.
    ///
    /// - Parameter tracker: The sender.
    func withdrawal(of rid: String, device: String, by tracker: TrackerState) -> Gateway.Effect {
        .publish(
            Publication(
                .state, of: tracker.topics.base, topic: DeviceTopics.region(device: device, rid: rid), payload: [],
                qos: settings.broker.qos, isRetained: true, happened: now))
    }

    // MARK: - Locations

    /// The location, and its line of history.
    func location(
        _ trigger: Location.Trigger, pointOfInterest: String?, cause: Location.Cause?, of tracker: TrackerState
    ) -> [Gateway.Effect] {
        let timestamp = clock.epochSeconds(at: now)
        let here = tracker.position(standing: settings.position)
        let location = Location(
            trigger, trackerID: tracker.configuration.trackerID, position: here, timestamp: timestamp,
            createdAt: timestamp, inRegions: tracker.inside(standing: settings.position), tag: settings.tag,
            pointOfInterest: pointOfInterest, cause: cause)
        let message = publish(
            trigger == .periodic ? .ping : .location, of: tracker, on: tracker.topics.base, location.payload,
            isRetained: settings.broker.retainsLocations, at: now)
        let record = PastLocation(
            tracker: tracker.topics.base, coordinates: here.coordinates, accuracy: Int64(here.accuracy),
            trigger: trigger.rawValue, timestamp: timestamp, stamp: clock.stamp, happened: now)
        return [message, .recordLocation(record)]
    }

    // MARK: - Regions

    /// The region itself. Its `tst` is the region's own.
    func waypoint(_ region: Region, of tracker: TrackerState) -> Gateway.Effect {
        publish(
            .other, of: tracker, on: tracker.topics.waypoint, region.waypoint(base: settings.numberBase),
            isTimeKnown: true, at: now)
    }

    /// All regions but those that are about to be removed.
    func waypoints(of tracker: TrackerState) -> Gateway.Effect {
        let cleared = tracker.pendingClear?.rids ?? []
        let regions = tracker.regions.regions.lazy.filter { !cleared.contains(ExactString($0.rid)) }
        return publish(
            .other, of: tracker, on: tracker.topics.waypoints,
            bytes: waypointsBytes(regions, base: settings.numberBase), isTimeKnown: true, at: now)
    }

    // MARK: - Other messages

    func card(_ card: Card, of tracker: TrackerState) -> Gateway.Effect {
        publish(
            .other, of: tracker, on: tracker.topics.info,
            card.payload(trackerID: tracker.configuration.trackerID), isRetained: true, isTimeKnown: true, at: now)
    }

    /// The most regions that the answer to `status` lists: the first ones. `regionCount` is the number of all.
    static let mostListedRegions = 1_000

    /// The answer to `status`, in a member of its own as in the apps.
    ///
    /// - Parameters:
    ///   - about: Members that do not depend on the tracker.
    ///   - startedAt: When the service started.
    func status(
        of tracker: TrackerState, about: [String: JSONValue], startedAt: MonotonicInstant, counters: JSONValue
    ) -> Gateway.Effect {
        var members = about
        members["started"] = .integer(clock.epochSeconds(at: startedAt))
        let regions = tracker.regions.regions.lazy.filter { $0.isBeacon || $0.kind == .circular }
        members["regionCount"] = .integer(Int64(tracker.regions.regions.count { $0.isBeacon || $0.kind == .circular }))
        members["regions"] = .array(
            regions.prefix(Self.mostListedRegions).map { region in
                let begin = tracker.begin(of: region.rid)
                var row: [String: JSONValue] = [
                    "rid": .string(region.rid), "desc": .string(region.displayName),
                    "state": begin == nil ? "outside" : "inside",
                ]
                if let begin { row["since"] = .integer(begin.timestamp(by: clock)) }
                if let occupancy = tracker.occupancy[region.rid] { row["beacon"] = .string("\(occupancy.beacon)") }
                return .object(row)
            })
        members["monitoring"] = .integer(Int64(tracker.monitoring.rawValue))
        members["answersReportLocation"] = .bool(tracker.mayPublish(.location(.requested), at: now))
        members["counters"] = counters
        members["isClockKnown"] = .bool(clock.isKnown)
        // Its member `isClockKnown` says whether the times in it are right.
        return publish(
            .other, of: tracker, on: tracker.topics.status, Status(gateway: members).payload, isTimeKnown: true,
            at: now)
    }

    /// The answer to `dump`: the settings in force, secrets masked.
    func dump(of tracker: TrackerState) -> Gateway.Effect {
        publish(
            .other, of: tracker, on: tracker.topics.dump, Dump(configuration: settings.shown).payload,
            isTimeKnown: true, at: now)
    }

    /// A beacon message of each tracker with a region that the beacon belongs to.
    func ranging(_ heard: Ranging.Heard, of trackers: Trackers) -> [Gateway.Effect] {
        var addressed: Set<Int> = []
        return heard.regions.compactMap { key in
            let tracker = trackers[key.tracker]
            guard tracker.mayPublish(.ranging, at: now), addressed.insert(key.tracker).inserted,
                let region = tracker.regions[rid: key.rid]
            else {
                return nil
            }
            let message = BeaconRanging(
                beacon: heard.beacon, rssi: heard.rssi, distance: heard.distance,
                trackerID: tracker.configuration.trackerID, timestamp: clock.epochSeconds(at: now),
                regionName: region.description.name)
            return publish(.other, of: tracker, on: tracker.topics.beacon, message.payload, at: now)
        }
    }

    // MARK: - Publications

    /// A message of a tracker, with the tracker's quality of service.
    ///
    /// - Parameter isTimeKnown: Whether the times in the payload are right; nil: whether the wall clock is known.
    private func publish(
        _ kind: Publication.Kind, of tracker: TrackerState, on topic: String, _ payload: JSONValue,
        isRetained: Bool = false, isTimeKnown: Bool? = nil, at instant: MonotonicInstant
    ) -> Gateway.Effect {
        publish(
            kind, of: tracker, on: topic, bytes: payload.bytes, isRetained: isRetained, isTimeKnown: isTimeKnown,
            at: instant)
    }

    private func publish(
        _ kind: Publication.Kind, of tracker: TrackerState, on topic: String, bytes: [UInt8],
        isRetained: Bool = false, isTimeKnown: Bool? = nil, at instant: MonotonicInstant
    ) -> Gateway.Effect {
        let isTimeKnown = isTimeKnown ?? clock.isKnown
        return .publish(
            Publication(
                kind, of: tracker.topics.base, topic: topic, payload: bytes, qos: settings.broker.qos,
                isRetained: isRetained, happened: isTimeKnown ? now : instant,
                stamp: isTimeKnown ? .exact : .provisional))
    }
}
