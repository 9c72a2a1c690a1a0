package import Base
import Beacon
import Gateway
package import JSON
import OwnTracks
import Presence

extension StatusSnapshot {
    /// Regions of one tracker in the JSON; occupied regions come first. `regionCount` is the number of all regions.
    package static let listedRegions = 500
    package static let listedBeacons = 200
    package static let listedTransitions = 100
    /// Characters of a name or a description. Names of 16 kB occur only in attacks.
    package static let shownCharacters = 200

    /// The JSON of `/status.json`, the live events and `status --json`.
    ///
    /// Times are ages in seconds (`…Ago`), since the time of day may be unknown; `time` is epoch
    /// seconds, or null then. Signals are dBm, distances metres.
    package var json: JSONValue {
        [
            "version": .string(version),
            "device": .string(device),
            "time": wallClock.isKnown ? .integer(wallClock.epochSeconds(at: now)) : .null,
            "uptime": .integer(Int64(startedAt.duration(to: now).inSeconds)),
            "scanner": [
                "name": .string(scanner.name),
                "listening": .bool(scanner.adapters.contains { $0.isListening }),
                "adapters": .array(scanner.adapters.map { $0.json(at: now) }),
            ],
            "brokers": .array(brokers.map { $0.json(at: now) }),
            "queue": [
                "pending": .integer(Int64(queue.pending)), "setAside": .integer(Int64(queue.setAside)),
                "dropped": .count(queue.dropped), "sent": .count(queue.sent),
            ],
            "store": [
                "ok": .bool(store.problem == nil), "problem": .optional(store.problem.map { .string($0) }),
                "writes": .count(store.writes),
            ],
            "trackers": .array(trackers.map { $0.json(at: now) }),
            "beacons": .array(beacons.prefix(Self.listedBeacons).map { $0.json(at: now, names: regionNames) }),
            "beaconCount": .integer(Int64(beacons.count)),
            "transitions": .array(transitions.prefix(Self.listedTransitions).map { $0.json(at: now) }),
            "counters": counters.json,
            "overflow": ["sightings": .count(overflow.sightings), "incoming": .count(overflow.incoming)],
            "malformed": .count(malformed.total),
            "process": process.map(\.json) ?? .null,
            "findings": .array(findings.map(\.json)),
        ]
    }

    private var regionNames: [RegionKey: String] {
        var names: [RegionKey: String] = [:]
        for (position, tracker) in trackers.enumerated() {
            for region in tracker.regions { names[RegionKey(tracker: position, rid: region.rid)] = region.name }
        }
        return names
    }
}

extension StatusSnapshot.Adapter {
    fileprivate func json(at now: MonotonicInstant) -> JSONValue {
        [
            "name": .shown(name), "listening": .bool(isListening), "reports": .count(reports),
            "reportsPerSecond": .tenths(reportsPerSecond), "malformed": .count(malformed), "lost": .count(lost),
            "restarts": .count(restarts), "duty": .optional(duty.map { .hundredths($0) }),
            "heardAgo": .ago(lastHeard, at: now),
        ]
    }
}

extension StatusSnapshot.BrokerState {
    package func json(at now: MonotonicInstant) -> JSONValue {
        [
            "name": .shown(name), "state": .string(phase.rawValue), "reason": .shown(reason),
            "sinceAgo": .ago(since, at: now),
            "retryIn": .optional(nextTry.map { .tenths(max(0, now.duration(to: $0).inSeconds)) }),
        ]
    }
}

extension StatusSnapshot.TrackerState {
    fileprivate func json(at now: MonotonicInstant) -> JSONValue {
        let listed = (regions.filter(\.isInside) + regions.filter { !$0.isInside }).prefix(StatusSnapshot.listedRegions)
        return [
            "tid": .shown(tid), "topic": .shown(topic), "monitoring": .integer(Int64(monitoring)),
            "regionCount": .integer(Int64(regions.count)), "regions": .array(listed.map { $0.json(at: now) }),
        ]
    }
}

extension StatusSnapshot.RegionState {
    fileprivate func json(at now: MonotonicInstant) -> JSONValue {
        [
            "rid": .string(rid), "name": .shown(name), "description": .shown(description), "inside": .bool(isInside),
            "sinceAgo": .ago(since, at: now), "beacon": .optional(beacon.map { .string("\($0)") }),
            "rssi": .optional(rssi.map { .integer(Int64($0.dBm)) }),
            "distance": .optional(distance.map { .tenths($0) }),
            "heardAgo": .ago(lastHeard, at: now),
            "leavesIn": .optional(leaveDeadline.map { .tenths(max(0, now.duration(to: $0).inSeconds)) }),
            "explanation": .shown(explanation),
        ]
    }
}

extension StatusSnapshot.BeaconState {
    fileprivate func json(at now: MonotonicInstant, names: [RegionKey: String]) -> JSONValue {
        [
            "uuid": .string("\(id.uuid)"), "major": .integer(Int64(id.major)), "minor": .integer(Int64(id.minor)),
            "measuredPower": .integer(Int64(measuredPower.dBm)),
            "rssi": .optional(rssi.map { .integer(Int64($0.dBm)) }),
            "distance": .optional(distance.map { .tenths($0) }),
            "interval": .optional(interval.map { .hundredths($0.inSeconds) }), "heardAgo": .ago(lastHeard, at: now),
            "sightings": .count(sightings),
            // One string and not thirty values, because it is sent to each client every second.
            "series": .string(series.map { $0.map { "\($0.dBm)" } ?? "" }.joined(separator: ",")),
            "regions": .array(regions.map { .shown(names[$0] ?? $0.rid) }),
        ]
    }
}

extension StatusSnapshot.TransitionRecord {
    fileprivate func json(at now: MonotonicInstant) -> JSONValue {
        [
            "ago": .ago(at, at: now), "tid": .shown(tid), "name": .shown(name), "rid": .string(rid),
            "event": isEnter ? "enter" : "leave", "beacon": .optional(beacon.map { .string("\($0)") }),
        ]
    }
}

extension StatusSnapshot.ProcessState {
    package var json: JSONValue {
        [
            "processorSeconds": .hundredths(processorTime.inSeconds), "residentBytes": .count(residentBytes),
            "openDescriptors": .integer(Int64(openDescriptors)),
        ]
    }
}

extension StatusSnapshot.Finding {
    package var json: JSONValue {
        ["level": .string(level.rawValue), "subject": .string(subject), "text": .shown(text), "cure": .string(cure)]
    }
}
