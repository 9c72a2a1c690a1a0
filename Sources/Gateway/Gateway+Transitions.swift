package import Beacon
package import OwnTracks
internal import Presence
internal import Regions

extension Gateway {
    /// Somebody came: a transition, the location after it, the retained state, a line of history.
    mutating func enter(_ key: RegionKey, by sighting: Sighting, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard let region = trackers[key.tracker].regions[rid: key.rid] else { return }
        trackers[key.tracker].occupancy[key.rid] = Occupancy(since: now, beacon: sighting.beacon, rssi: sighting.rssi)
        note(changeOf: key)
        let record = TransitionRecord(
            key: key, isEnter: true, name: region.displayName, beacon: sighting.beacon, rssi: sighting.rssi,
            instant: now, timestamp: wallClock.epochSeconds(at: now),
            trackerID: trackers[key.tracker].configuration.trackerID)
        tell(record, of: region, at: now, &effects)
        switchMonitoring(of: key.tracker, to: region.monitoringModes?.onEnter, &effects)
    }

    /// Somebody went.
    mutating func leave(_ key: RegionKey, last beacon: BeaconID, at now: MonotonicInstant, _ effects: inout [Effect]) {
        guard trackers.indices.contains(key.tracker) else { return }
        let regions = trackers[key.tracker].former ?? trackers[key.tracker].regions
        guard let region = regions[rid: key.rid] else { return }
        trackers[key.tracker].occupancy[key.rid] = nil
        note(changeOf: key)
        let record = TransitionRecord(
            key: key, isEnter: false, name: region.displayName, beacon: beacon, rssi: nil,
            instant: now, timestamp: wallClock.epochSeconds(at: now),
            trackerID: trackers[key.tracker].configuration.trackerID)
        tell(record, of: region, at: now, &effects)
        switchMonitoring(of: key.tracker, to: region.monitoringModes?.onLeave, &effects)
    }

    private func tell(
        _ record: TransitionRecord, of region: Region, at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let tracker = trackers[record.key.tracker]
        effects.append(.record(record))
        if tracker.monitoring != .quiet {
            let away = record.isEnter ? nil : tracker.configuration.away
            let transition = Transition(
                record.isEnter ? .enter : .leave, of: region, trackerID: tracker.configuration.trackerID,
                position: away ?? configuration.position, timestamp: record.timestamp,
                createdAt: record.timestamp)
            effects.append(
                publish(
                    .transition, of: record.key.tracker, on: tracker.topics.event, transition.payload, at: now))
            if configuration.position.isKnown {
                effects.append(location(of: record.key.tracker, trigger: .beacon, at: now))
            }
        }
        effects += state(of: region, tracker: record.key.tracker, at: now)
        guard explainsTransitions else { return }
        effects.append(
            .log(LogEntry(.debug, "explanation", "\(record.name): \(reason(for: record, of: region, at: now))")))
    }

    mutating func switchMonitoring(of tracker: Int, to mode: Int?, _ effects: inout [Effect]) {
        guard let mode = mode.flatMap(MonitoringMode.init(rawValue:)), trackers[tracker].monitoring != mode else {
            return
        }
        trackers[tracker].monitoring = mode
        effects.append(.monitoring(tracker: tracker, mode))
    }

    /// Where a tracker is, and in which regions.
    package func location(
        of position: Int, trigger: Location.Trigger, pointOfInterest: String? = nil, at now: MonotonicInstant
    ) -> Effect {
        let tracker = trackers[position]
        let timestamp = wallClock.epochSeconds(at: now)
        let location = Location(
            trigger, trackerID: tracker.configuration.trackerID,
            position: tracker.position(standing: configuration.position),
            timestamp: timestamp,
            createdAt: timestamp, inRegions: tracker.inside(standing: configuration.position), tag: configuration.tag,
            pointOfInterest: pointOfInterest)
        return publish(
            .location, of: position, on: tracker.topics.base, location.payload,
            isRetained: configuration.broker.retainsLocations, at: now)
    }

    /// Takes over from what was kept who is inside, by `rid`: for one who tells and does not listen.
    package mutating func suppose(_ inside: [String: Occupancy], of tracker: Int) {
        trackers[tracker].occupancy = inside
        forgetKeptPresence()
    }

    /// The retained state of one region, for those who come later.
    ///
    /// - Returns: nothing for a tracker with an encryption key, unless Home Assistant is to have it: what
    ///   is kept from the broker in one place must not stand in the clear in another.
    func state(of region: Region, tracker position: Int, at now: MonotonicInstant) -> [Effect] {
        let tracker = trackers[position]
        guard tracker.configuration.encryptionKey == nil || configuration.homeAssistant.discovery else { return [] }
        let occupancy = tracker.occupancy[region.rid]
        let state = RegionState(
            isInside: occupancy != nil, since: occupancy?.timestamp(by: wallClock) ?? wallClock.epochSeconds(at: now),
            description: region.displayName, rssi: occupancy?.rssi)
        return [
            publish(
                .state, of: position, on: RegionState.topic(device: tracker.configuration.deviceID, rid: region.rid),
                state.payload, isRetained: true, isEncrypted: false,
                // What tells of an enter bears its time, whenever it is told.
                isTimeKnown: wallClock.isKnown || occupancy?.keptTimestamp != nil, at: occupancy?.since ?? now)
        ]
    }

    /// A message of a tracker, with the tracker's quality of service.
    ///
    /// - Parameter isTimeKnown: Whether the times in it are right; nil: if the wall clock is.
    func publish(
        _ kind: Message.Kind, of tracker: Int, on topic: String, _ payload: JSONValue,
        isRetained: Bool = false, isEncrypted: Bool = true, isTimeKnown: Bool? = nil, at now: MonotonicInstant
    ) -> Effect {
        publish(
            kind, of: tracker, on: topic, bytes: payload.bytes, isRetained: isRetained, isEncrypted: isEncrypted,
            isTimeKnown: isTimeKnown, at: now)
    }

    func publish(
        _ kind: Message.Kind, of tracker: Int, on topic: String, bytes: [UInt8],
        isRetained: Bool = false, isEncrypted: Bool = true, isTimeKnown: Bool? = nil, at now: MonotonicInstant
    ) -> Effect {
        .publish(
            Message(
                kind: kind, tracker: tracker, topic: topic, payload: bytes,
                qos: configuration.broker.qos, isRetained: isRetained, isEncrypted: isEncrypted,
                unstamped: isTimeKnown ?? wallClock.isKnown ? nil : now))
    }
}
