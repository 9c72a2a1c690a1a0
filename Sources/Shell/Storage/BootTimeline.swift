import Base

/// Turns instants of this and earlier boots into wall time.
///
/// The times of a boot whose wall clock became known are exact. The times of a boot that ended before that are computed
/// from the start of the next boot, as if the machine had been started again at once: the last record of the old boot
/// is placed at that start. So an estimate is too late by the time that the machine was off. It is never after the next
/// boot, and never before the known times of the previous boot.
struct BootTimeline {
    private struct Span {
        let row: BootRow
        let lastAlive: MonotonicInstant
    }

    private let spans: [Span]

    /// - Parameters:
    ///   - boots: In any order.
    ///   - lastAlive: The latest recorded instant of a boot, by its id.
    init(_ boots: [BootRow], lastAlive: [String: MonotonicInstant]) {
        spans = boots.sorted { $0.number < $1.number }.map {
            Span(row: $0, lastAlive: lastAlive[$0.id] ?? .zero)
        }
    }

    /// - Returns: Epoch seconds, and whether they are estimated; nil if no later boot knows the time, or if the boot is
    ///   not recorded.
    func epochSeconds(of instant: MonotonicInstant, boot: String) -> (seconds: Int64, isEstimated: Bool)? {
        guard let index = spans.firstIndex(where: { $0.row.id == boot }) else { return nil }
        if let clock = spans[index].row.wallClock { return (clock.epochSeconds(at: instant), false) }
        guard let next = spans[index...].firstIndex(where: { $0.row.wallClock != nil }),
            let clock = spans[next].row.wallClock
        else { return nil }
        var end = clock.epochOffset
        for span in spans[(index + 1)..<next] { end -= span.lastAlive.nanoseconds }
        let beforeEnd = max(0, spans[index].lastAlive.nanoseconds - instant.nanoseconds)
        let estimate = WallClock(epochOffset: end - beforeEnd, isKnown: true).epochSeconds(at: .zero)
        return (max(estimate, earliest(before: index) ?? estimate), true)
    }

    /// The latest known time of the boots before `index`.
    private func earliest(before index: Int) -> Int64? {
        guard let known = spans[..<index].last(where: { $0.row.wallClock != nil }) else { return nil }
        return known.row.wallClock?.epochSeconds(at: known.lastAlive)
    }
}
