import Base
import Beacon
import Configuration
import JSON
import OwnTracks
import Presence
import Regions

extension Gateway {
    /// Publishes the cards and the states of all regions: after the start, after each new session with the broker, and
    /// when Home Assistant starts.
    ///
    /// - Parameters:
    ///   - isAgain: They were published before, and the receiver has lost them.
    ///   - hidden: Devices whose states were withheld before as well.
    mutating func announce(at now: MonotonicInstant, isAgain: Bool, hidden: Set<ExactString> = []) -> [Effect] {
        // All states are about to be published.
        announcements.replace {
            switch $0 {
            case .state, .enter: nil
            default: $0
            }
        }
        if !isAgain { announcements.add(withdrawalsOfHiddenStates(besides: hidden, at: now)) }
        let effects = beginCards(at: now)
        for position in trackers.indices {
            if isAgain, configuration.reannounces { announcements.add(repeatedEnters(of: position, at: now)) }
            announcements.add(
                trackers[position].regions.regions.filter(\.isBeacon).map { .state(tracker: position, rid: $0.rid) })
        }
        return effects + publish(turn: announcements.next(at: now), at: now)
    }

    /// Empties the states that are withheld: the broker may have them since a time with another mode or other settings,
    /// and would go on telling them.
    ///
    /// Another tracker of the same device, of which `config check` warns, may show the state of a region of the same id.
    func withdrawalsOfHiddenStates(
        besides hidden: Set<ExactString>, at now: MonotonicInstant
    ) -> [RegionAnnouncement] {
        let showing = Dictionary(grouping: trackers.indices.filter { !hidesStates(of: $0, at: now) }, by: device)
        return trackers.indices.flatMap { position -> [RegionAnnouncement] in
            guard hidesStates(of: position, at: now), !hidden.contains(device(of: position)) else { return [] }
            let others = showing[device(of: position)] ?? []
            let rids = trackers[position].regions.regions.filter(\.isBeacon).map(\.rid).filter { rid in
                !others.contains { trackers[$0].regions[rid: rid]?.isBeacon == true }
            }
            let device = trackers[position].configuration.deviceID
            return rids.map { .withdrawal(device: device, tracker: position, rid: $0) }
        }
    }

    /// The devices of trackers whose states are withheld.
    func hiddenDevices(at now: MonotonicInstant) -> Set<ExactString> {
        Set(trackers.indices.filter { hidesStates(of: $0, at: now) }.map(device))
    }

    private func device(of position: Int) -> ExactString { ExactString(trackers[position].configuration.deviceID) }

    /// The enters of all occupied regions again, with their original times. A repeated enter does no harm.
    private func repeatedEnters(of position: Int, at now: MonotonicInstant) -> [RegionAnnouncement] {
        guard mayPublish(.transition, of: position, at: now) else { return [] }
        let tracker = trackers[position]
        return tracker.regions.regions.compactMap { region in
            tracker.begin(of: region.rid).map { _ in .enter(tracker: position, rid: region.rid) }
        }
    }

    /// The enter of a region again; nothing if it was left meanwhile.
    func repeatedEnter(of region: Region, tracker position: Int, at now: MonotonicInstant) -> [Effect] {
        let tracker = trackers[position]
        guard mayPublish(.transition, of: position, at: now), let begin = tracker.begin(of: region.rid) else {
            return []
        }
        let isTimeKnown = begin.isTimeKnown(by: wallClock)
        let since = begin.timestamp(by: wallClock)
        let place =
            region.kind == .circular ? tracker.position(standing: configuration.position) : configuration.position
        let transition = Transition(
            .enter, of: region, trackerID: tracker.configuration.trackerID, position: place,
            timestamp: since, createdAt: wallClock.isKnown ? wallClock.epochSeconds(at: now) : since)
        // It bears the time of the enter, whenever it is published.
        return [
            publish(
                .transition, of: position, on: tracker.topics.event, transition.payload, isTimeKnown: isTimeKnown,
                at: begin.since)
        ]
    }

    /// Time between two parts of the cards, and their bytes in one part.
    static let cardPause: Duration = .milliseconds(250)
    private static let cardBytes = 64 << 10

    /// Publishes the cards of all trackers: the first now, and the others in later turns.
    private mutating func beginCards(at now: MonotonicInstant) -> [Effect] {
        guard let card = configuration.card else {
            cards = TurnQueue(turn: 1, pause: Self.cardPause)
            return []
        }
        let bytes = 64 + (card.name?.utf8.count ?? 0) + (card.face?.utf8.count ?? 0)
        cards = TurnQueue(turn: max(1, Self.cardBytes / bytes), pause: Self.cardPause)
        cards.add(Array(trackers.indices))
        return cards.next(at: now).flatMap { self.card(of: $0, at: now) }
    }

    func card(of position: Int, at now: MonotonicInstant) -> [Effect] {
        guard trackers.indices.contains(position), let card = configuration.card else { return [] }
        let tracker = trackers[position]
        return [
            publish(
                .other, of: position, on: tracker.topics.info,
                card.payload(trackerID: tracker.configuration.trackerID), isRetained: true, isTimeKnown: true, at: now)
        ]
    }

    /// The answer to `status`, in a member of its own as in the apps.
    func status(of position: Int, at now: MonotonicInstant) -> Effect {
        let tracker = trackers[position]
        var members = about
        members["started"] = .integer(wallClock.epochSeconds(at: startedAt))
        let regions = tracker.regions.regions.lazy.filter { $0.isBeacon || $0.kind == .circular }
        members["regionCount"] = .integer(Int64(tracker.regions.regions.count { $0.isBeacon || $0.kind == .circular }))
        members["regions"] = .array(
            regions.prefix(Self.mostListedRegions).map { region in
                let begin = tracker.begin(of: region.rid)
                var row: [String: JSONValue] = [
                    "rid": .string(region.rid), "desc": .string(region.displayName),
                    "state": begin == nil ? "outside" : "inside",
                ]
                if let begin { row["since"] = .integer(begin.timestamp(by: wallClock)) }
                if let occupancy = tracker.occupancy[region.rid] { row["beacon"] = .string("\(occupancy.beacon)") }
                return .object(row)
            })
        members["monitoring"] = .integer(Int64(tracker.monitoring.rawValue))
        members["answersReportLocation"] = .bool(mayPublish(.location(.requested), of: position, at: now))
        var totals = counters.json.object ?? [:]
        totals["sightingsDropped"] = .integer(Int64(clamping: droppedSightings))
        members["counters"] = .object(totals)
        members["isClockKnown"] = .bool(wallClock.isKnown)
        // Its member `isClockKnown` says whether the times in it are right.
        return publish(
            .other, of: position, on: tracker.topics.status, Status(gateway: members).payload, isTimeKnown: true,
            at: now)
    }

    /// The most regions that the answer to `status` lists: the first ones. `regionCount` is the number of all.
    static let mostListedRegions = 1_000

    /// The answer to `dump`: the settings in force, secrets masked.
    func dump(of position: Int, at now: MonotonicInstant) -> Effect {
        publish(
            .other, of: position, on: trackers[position].topics.dump, Dump(configuration: configuration.shown).payload,
            isTimeKnown: true, at: now)
    }

    /// A beacon message of each tracker with a region that the beacon belongs to, as often as the throttle allows.
    mutating func range(_ sighting: Sighting, at now: MonotonicInstant) -> [Effect] {
        var positions: [Int32] = []
        index.forEachMatch(of: sighting.beacon) { positions.append($0) }
        guard !positions.isEmpty, let rssi = sighting.rssi,
            let metres = distance(rssi: rssi, measuredPower: sighting.measuredPower),
            ranging.admits(sighting.beacon, distance: metres, at: now)
        else { return [] }
        var addressed: Set<Int> = []
        return positions.compactMap { position in
            let key = monitored[Int(position)].key
            guard mayPublish(.ranging, of: key.tracker, at: now), addressed.insert(key.tracker).inserted,
                let region = trackers[key.tracker].regions[rid: key.rid]
            else {
                return nil
            }
            let message = BeaconRanging(
                beacon: sighting.beacon, rssi: rssi, distance: metres,
                trackerID: trackers[key.tracker].configuration.trackerID,
                timestamp: wallClock.epochSeconds(at: now), regionName: region.description.name)
            return publish(.other, of: key.tracker, on: trackers[key.tracker].topics.beacon, message.payload, at: now)
        }
    }
}
