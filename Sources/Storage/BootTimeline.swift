import Base
import Beacon

/// Turns instants of this and earlier boots into wall time.
///
/// A boot whose wall clock became known is exact. One that ended before that is reckoned backwards
/// from the start of the next, as if the machine had been started again at once: its last sign of life
/// is put at that start. So an estimate errs to the late side, by the time the machine was off;
/// it never runs ahead of what came after it, and never behind what is known of the boot before.
struct BootTimeline {
    private struct Span {
        let row: BootRow
        let lastAlive: MonotonicInstant
    }

    private let spans: [Span]

    /// - Parameters:
    ///   - boots: In any order.
    ///   - lastAlive: The latest instant that is on record for a boot, by its id.
    init(_ boots: [BootRow], lastAlive: [String: MonotonicInstant]) {
        spans = boots.sorted { $0.number < $1.number }.map {
            Span(row: $0, lastAlive: lastAlive[$0.id] ?? .zero)
        }
    }

    /// - Returns: Epoch seconds, and whether they are reckoned; nil if no later boot knows the time, or
    ///   the boot is not on record.
    func epochSeconds(of instant: MonotonicInstant, boot: String) -> (seconds: Int64, isEstimated: Bool)? {
        guard let position = spans.firstIndex(where: { $0.row.id == boot }) else { return nil }
        if let clock = spans[position].row.wallClock { return (clock.epochSeconds(at: instant), false) }
        guard let next = spans[position...].firstIndex(where: { $0.row.wallClock != nil }),
            let clock = spans[next].row.wallClock
        else { return nil }
        var end = clock.epochNanosecondsAtBoot
        for span in spans[(position + 1)..<next] { end -= span.lastAlive.nanoseconds }
        let beforeEnd = max(0, spans[position].lastAlive.nanoseconds - instant.nanoseconds)
        let estimate = WallClockReading(epochNanosecondsAtBoot: end - beforeEnd).epochSeconds(at: .zero)
        return (max(estimate, earliest(before: position) ?? estimate), true)
    }

    /// The last that is known of the boots before `position`.
    private func earliest(before position: Int) -> Int64? {
        guard let known = spans[..<position].last(where: { $0.row.wallClock != nil }) else { return nil }
        return known.row.wallClock?.epochSeconds(at: known.lastAlive)
    }
}
