/// Finds the windows whose room is certain: the backward step of the forward–backward algorithm.
///
/// The belief after each window comes from this window and those before it: the forward step, which the engine makes anyway. The
/// likelihood of all later windows comes from here. The memory is reused.
struct Smoother: Sendable {
    /// The likelihood of the windows after a window for each of its rooms, up to a common factor.
    private var after: [Float] = []
    /// The latest come first.
    private(set) var certain: [CertainWindow] = []

    /// Fills `certain` with those of the first `count` windows whose room is certain.
    mutating func findCertainWindows(in learner: borrowing Learner, _ count: Int, _ tuning: RoomTuning) {
        certain.removeAll(keepingCapacity: true)
        after.removeAll(keepingCapacity: true)
        var levelsEnd = learner.levels.count
        var end = learner.rooms.count
        /// The range of the rooms of the window after this one.
        var later = end..<end
        for index in learner.windows.indices.reversed() {
            let window = learner.windows[index]
            let rooms = end - window.rooms..<end
            // Other rooms were chosen, so the later windows say nothing about these.
            let isSameChoice =
                rooms.count == later.count
                && zip(rooms, later).allSatisfy { learner.rooms[$0].room == learner.rooms[$1].room }
            if !isSameChoice {
                after.removeAll(keepingCapacity: true)
                for _ in rooms { after.append(1) }
            }
            var total: Float = 0
            var best: (product: Float, room: RoomIndex)?
            for (room, after) in zip(rooms, after) {
                let product = learner.rooms[room].belief * after
                total += product
                if product > best?.product ?? -1 { best = (product, learner.rooms[room].room) }
            }
            if index < count, let best, total > 0, best.product / total >= tuning.learning.learnProbability {
                certain.append(CertainWindow(window: index, room: best.room, levelsEnd: levelsEnd))
            }
            lookBack(over: window, learner.rooms[rooms], tuning)
            later = rooms
            end = rooms.lowerBound
            levelsEnd -= window.levels
        }
    }

    /// The backward step: turns `after`, the likelihood of the windows after `window` for its rooms, into the likelihood of these and
    /// `window` for the rooms before it, up to a common factor.
    private mutating func lookBack(
        over window: Learner.Window, _ rooms: ArraySlice<Learner.RoomWeight>, _ tuning: RoomTuning
    ) {
        let moved = 1 - FixedMath.exp(-window.elapsed / tuning.learning.learnStaySeconds)
        var best = -Float.infinity
        for room in rooms { best = max(best, room.evidence) }
        var sum: Float = 0
        for (index, room) in zip(after.indices, rooms) {
            after[index] *= FixedMath.exp(max(room.evidence - best, -tuning.transition.windowCap))
            sum += after[index]
        }
        let spread = moved / max(1, Float(rooms.count) - 1)
        var most: Float = 0
        for index in after.indices {
            after[index] = after[index] * (1 - moved - spread) + sum * spread
            most = max(most, after[index])
        }
        for index in after.indices { after[index] = most > 0 ? after[index] / most : 1 }
    }
}
