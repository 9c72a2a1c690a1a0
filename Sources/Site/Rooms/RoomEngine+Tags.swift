import Base
import Beacon
import Regions

extension Tag {
    /// A second, with the jitter of messages. It is an integer because it is compared for each reading.
    static let secondNanoseconds: Int64 = 1_500_000_000

    /// Records a level.
    mutating func hear(_ heard: HeardLevel, _ tuning: RoomTuning) {
        if let place = levels.firstIndex(where: { $0.gateway >= heard.gateway }) {
            if levels[place].gateway == heard.gateway {
                var heard = heard
                heard.continueCourse(of: levels[place], tuning)
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
        // The level that was heard longest ago is replaced; of those just heard, the weakest.
        guard
            let least = levels.indices.min(by: {
                (levels[$0].pairOfSeconds, levels[$0].level) < (levels[$1].pairOfSeconds, levels[$1].level)
            }), levels[least].level < heard.level || heard.at.nanoseconds - levels[least].at.nanoseconds > 2_000_000_000
        else { return }
        levels.remove(at: least)
        let place = levels.firstIndex { $0.gateway > heard.gateway } ?? levels.endIndex
        levels.insert(heard, at: place)
    }
}

extension HeardLevel {
    /// Levels of the same two seconds count as heard at once.
    fileprivate var pairOfSeconds: Int64 { at.nanoseconds / 2_000_000_000 }
}

extension RoomEngine {
    mutating func replaceTags(
        by descriptions: [TagDescription], at now: MonotonicInstant, _ effects: inout [Effect]
    ) {
        let kept = Dictionary(
            states.indices.map { (states[$0].description.id, (tag: states[$0], training: trainings[$0])) },
            uniquingKeysWith: { first, _ in first })
        trainings = [:]
        var new: [Tag] = []
        new.reserveCapacity(min(descriptions.count, bounds.tags))
        var indices: [String: TagIndex] = [:]
        for description in descriptions.prefix(bounds.tags) where indices[description.id] == nil {
            let index = TagIndex(position: new.count)
            indices[description.id] = index
            var tag = Tag(description)
            if let (old, training) = kept[description.id], old.description.pattern == description.pattern {
                tag = old
                tag.description = description
                tag.learner = nil
                tag.isPending = false
                trainings[index] = training
            }
            new.append(tag)
        }
        learners = Table()
        let old = states
        states = Table(new)
        departures.move { tag in
            indices[old[tag].description.id].flatMap {
                states[$0].description.pattern == old[tag].description.pattern ? $0 : nil
            }
        }
        openWindows = OpenWindows()
        presence.replaceTags(by: tags, at: now)
        for tag in states.indices where states[tag].isHome && !presence.isInside(states[tag].description) {
            guard departures.since[tag] == nil else { continue }
            states[tag].isHome = false
            states[tag].room = nil
        }
    }

    /// Says anew which tags are phones. Any client may write a card that does, so open windows and learners stay as they are.
    mutating func setPhones(_ uuids: Set<BeaconUUID>, at now: MonotonicInstant, _ effects: inout [Effect]) {
        var isChanged = false
        for tag in states.indices {
            let isPhone = uuids.contains(states[tag].description.pattern.uuid)
            guard states[tag].description.isPhone != isPhone else { continue }
            states[tag].description.isPhone = isPhone
            isChanged = true
        }
        guard isChanged else { return }
        take(presence.setPhones(of: tags, at: now), at: now, &effects)
    }
}
