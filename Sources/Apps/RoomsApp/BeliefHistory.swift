package import Base

/// The room probabilities of the tags on the page during the last five minutes, for a small plot of each tag.
///
/// The history is recorded while a page is open, from each state that is sent to the page. At most `mostTags` tags have
/// a history of about 5 kB each.
package struct BeliefHistory {
    /// Time span of one column of the plot.
    package static let step: Duration = .seconds(5)
    package static let columns = 60
    package static let mostTags = 50
    /// A room with a lower probability is not drawn, %.
    private static let leastPercent: UInt8 = 5

    private struct Column {
        /// Number of the step, counted from the zero of the clock.
        var step: Int64
        /// Probability by room id, %. Empty if the tag is away or its room is not known.
        var percents: [(room: String, percent: UInt8)]
    }

    private var columns: [String: [Column]] = [:]

    package init() {}

    /// Number of tags with a history.
    package var count: Int { columns.count }

    private static func step(of now: MonotonicInstant) -> Int64 { now.nanoseconds / step.nanoseconds }

    /// Records the present probabilities of a tag. The last record of a step replaces the others.
    package mutating func record(
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

    /// The last five minutes of a tag, by room id: the % of each column, newest last, separated by commas. A column is
    /// empty if no page was open.
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
