package import Base

/// What was believed of the tags on the page during the last five minutes, for a small drawing of each.
///
/// It is kept while a page is open: each state that is sent to the page is noted. At most `mostTags` tags have a history, about 5 kB each.
package struct BeliefHistory {
    /// One column of the drawing.
    package static let step: Duration = .seconds(5)
    package static let columns = 60
    package static let mostTags = 50
    /// A room below this share is not drawn, %.
    private static let leastPercent: UInt8 = 5

    private struct Column {
        /// Steps since the zero of the clock.
        var step: Int64
        /// % by the room's id. Empty: the tag is away, or its room is not known.
        var percents: [(room: String, percent: UInt8)]
    }

    private var columns: [String: [Column]] = [:]

    package init() {}

    /// Tags that have a history.
    package var count: Int { columns.count }

    private static func step(of now: MonotonicInstant) -> Int64 { now.nanoseconds / step.nanoseconds }

    /// What is believed of a tag now; several in one step are one column, the last.
    package mutating func note(
        tag id: String, _ belief: [(room: String, probability: Float)], at now: MonotonicInstant
    ) {
        guard columns[id] != nil || columns.count < Self.mostTags else { return }
        let step = Self.step(of: now)
        let percents = belief.compactMap { room, probability -> (room: String, percent: UInt8)? in
            let percent = UInt8(max(0, min(100, (probability * 100).rounded())))
            return percent >= Self.leastPercent ? (room, percent) : nil
        }
        var known = columns[id] ?? []
        if known.last?.step == step { known.removeLast() }
        known.append(Column(step: step, percents: percents))
        known.removeAll { $0.step <= step - Int64(Self.columns) }
        columns[id] = known
    }

    /// Forgets all other tags.
    package mutating func keepOnly(_ ids: Set<String>) {
        guard columns.keys.contains(where: { !ids.contains($0) }) else { return }
        columns = columns.filter { ids.contains($0.key) }
    }

    /// The last five minutes of a tag, by the id of each room: % of each column, the newest last, with commas between them. A
    /// column without a page is empty.
    package func series(ofTag id: String, at now: MonotonicInstant) -> [String: String] {
        guard let known = columns[id] else { return [:] }
        let first = Self.step(of: now) - Int64(Self.columns) + 1
        var empty = [String](repeating: "", count: Self.columns)
        for column in known where column.step >= first { empty[Int(column.step - first)] = "0" }
        var series: [String: [String]] = [:]
        for column in known where column.step >= first {
            for (room, percent) in column.percents {
                series[room, default: empty][Int(column.step - first)] = "\(percent)"
            }
        }
        return series.mapValues { $0.joined(separator: ",") }
    }
}
