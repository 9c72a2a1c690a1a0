package import RoomRules

/// What the rules said of one tag.
package struct TagComparison: Sendable {
    /// What one rule said.
    package struct Line: Sendable {
        package let name: String
        /// Changes from one room to another, in a day of the recording.
        package let changesPerDay: Double
        /// Those of them after which the tag was in the room before again within a minute.
        package let takenBackPerDay: Double
        /// Where it is known where the tag was; nil: it is not.
        package let truth: Truth?

        /// - Parameters:
        ///   - changes: -1 is no room.
        ///   - stays: Where the tag was, in parts without a gap.
        ///   - seconds: The length of the recording.
        package init(name: String, _ changes: [RoomChange], _ stays: [[RoomStay]], seconds: Double) {
            self.name = name
            let days = seconds / 86_400
            let rooms = changes.filter { $0.room >= 0 }
            var moves: [(time: Double, from: Int, to: Int)] = []
            for (before, after) in zip(rooms, rooms.dropFirst()) where before.room != after.room {
                moves.append((after.time, before.room, after.room))
            }
            let takenBack = zip(moves, moves.dropFirst()).count { move, next in
                next.to == move.from && next.time - move.time <= RoomComparison.shortStay
            }
            changesPerDay = days > 0 ? Double(moves.count) / days : 0
            takenBackPerDay = days > 0 ? Double(takenBack) / days : 0
            truth = stays.isEmpty ? nil : Truth(changes, stays)
        }
    }

    /// How a rule agrees with the truth, by the definitions of `Benchmarks/README.md`.
    package struct Truth: Sendable {
        /// 0 … 1
        package let right: Double
        package let falsePerDay: Double
        /// Median seconds from the entry to the report of it; nil: none was reported.
        package let delay: Double?
        /// Entries that were never reported, of all.
        package let (never, entries): (Int, Int)

        fileprivate init(_ changes: [RoomChange], _ stays: [[RoomStay]]) {
            // There may be as many parts as pauses, so that each gets its own changes, and the two that say what held before.
            var next = 0
            let scores = stays.map { part in
                let (from, to) = (part.first?.from ?? 0, part.last?.to ?? 0)
                while next < changes.count, changes[next].time <= from { next += 1 }
                let own = changes[max(0, next - 2)...].prefix { $0.time <= to }
                return SessionScore(stays: part, Array(own))
            }
            let seconds = scores.reduce(0) { $0 + $1.seconds }
            let hours = scores.reduce(0) { $0 + $1.hours }
            right = seconds > 0 ? Double(scores.reduce(0) { $0 + $1.rightSeconds }) / Double(seconds) : 0
            falsePerDay = hours > 0 ? Double(scores.reduce(0) { $0 + $1.falseChanges }) / hours * 24 : 0
            let delays = scores.flatMap(\.delays)
            delay = delays.allSatisfy { $0 == nil } ? nil : percentile(0.5, of: delays.compactMap(\.self).sorted())
            (never, entries) = (delays.count { $0 == nil }, delays.count)
        }
    }

    package let name: String
    package let id: String
    package let readings: Int
    /// Whether nothing but the UUID of the tag says that it is followed by a fixed address.
    package let isAddressAssumed: Bool
    package let lines: [Line]
}
