import Base
import Presence
import Regions

extension Tag {
    /// Takes note of a level.
    mutating func hear(_ heard: HeardLevel) {
        if let place = levels.firstIndex(where: { $0.gateway >= heard.gateway }) {
            if levels[place].gateway == heard.gateway {
                levels[place] = heard
                return
            }
            if levels.count < Self.mostLevels {
                levels.insert(heard, at: place)
                return
            }
        } else if levels.count < Self.mostLevels {
            levels.append(heard)
            return
        }
        // The one that was heard longest ago gives way, or the weakest of those just heard.
        guard
            let least = levels.indices.min(by: {
                (levels[$0].at / 2_000_000_000, levels[$0].level) < (levels[$1].at / 2_000_000_000, levels[$1].level)
            }), levels[least].level < heard.level || heard.at - levels[least].at > 2_000_000_000
        else { return }
        levels.remove(at: least)
        let place = levels.firstIndex { $0.gateway > heard.gateway } ?? levels.endIndex
        levels.insert(heard, at: place)
    }
}

extension RoomEngine {
    mutating func replaceTags(
        by descriptions: [TagDescription], at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let kept = Dictionary(
            states.enumerated().map { ($1.description.id, (tag: $1, training: trainings[$0])) },
            uniquingKeysWith: { first, _ in first })
        trainings = [:]
        var new: [Tag] = []
        new.reserveCapacity(min(descriptions.count, bounds.tags))
        var seen: Set<String> = []
        for description in descriptions.prefix(bounds.tags) where seen.insert(description.id).inserted {
            var tag = Tag(description)
            if let (old, training) = kept[description.id], old.description.pattern == description.pattern {
                tag = old
                tag.description = description
                tag.learner = -1
                tag.isPending = false
                trainings[new.count] = training
            }
            new.append(tag)
        }
        learners = []
        let old = states.map(\.description)
        states = new
        let places = Dictionary(
            new.enumerated().map { ($1.description.id, $0) }, uniquingKeysWith: { first, _ in first })
        departures.move { tag in
            places[old[tag].id].flatMap { new[$0].description.pattern == old[tag].pattern ? $0 : nil }
        }
        openWindows = OpenWindows()
        let regions = states.enumerated().map { place, tag in
            MonitoredRegion(
                key: RegionKey(tracker: place, rid: tag.description.id), pattern: tag.description.pattern,
                leaveRule: .auto)
        }
        presence.mostReceivers = states.count > Self.fewTags ? Self.mostWitnesses : PresenceTiming.mostReceivers
        // Effects of the exchange itself are of no tag that stays.
        _ = presence.handle(.regions(regions), at: now)
        for place in states.indices {
            let isInside = presence.isInside(RegionKey(tracker: place, rid: states[place].description.id))
            if states[place].isHome, !isInside, departures.since[place] == nil {
                states[place].isHome = false
                states[place].room = -1
            }
        }
    }
}
