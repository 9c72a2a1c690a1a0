import Base
import Storage

/// Decides when old entries of the history are deleted, and how old they must be.
///
/// A wrong wall clock must not delete the history: ten years ahead, everything is old. So after the clock has moved by more
/// than a day, it is not believed for 24 h. Within one boot of the machine the monotonic clock says how far the wall clock
/// was moved. Over a boot nothing does: if more than a day has passed since the last look, the clock may be wrong or the
/// machine was off, and entries are kept for a day longer. The state is stored, so that a restart of the service changes
/// nothing of this.
struct HistoryPruning: Hashable, Sendable {
    /// The key of the state among the values of the store.
    static let storeKey = "history pruning"

    struct Outcome: Hashable, Sendable {
        /// Entries from before these epoch seconds are deleted now; nil: none.
        var before: Int64?
        /// The clock is not believed from now on: the seconds by which it was moved.
        var doubtedShift: Int64?
        /// The state, if it is to be stored now.
        var state: [UInt8]?

        /// What the store has to do.
        var requests: [StoreRequest] {
            let stored = state.map { StoreRequest.commit([.value(key: HistoryPruning.storeKey, $0)]) }
            return [stored, before.map { .pruneHistory(before: $0) }].compactMap(\.self)
        }

        /// That the clock is not believed, for the log.
        var doubt: String? {
            guard let shift = doubtedShift else { return nil }
            let days = "\(shift.magnitude / 86_400) days \(shift < 0 ? "earlier" : "later") than expected"
            return
                "the wall clock is \(days): it was set, or the machine was off; for 24 h no history is deleted for its age"
        }
    }

    private static let day: Int64 = 86_400
    /// Seconds after which the state is stored although nothing has happened: a boot soon after that is told from a day
    /// without power.
    private static let longestUnstored: Int64 = 3_600

    /// The boot of the last look at a trusted clock; empty before the first.
    private var boot = ""
    /// Seconds since that boot, and since 1970, at that look.
    private var uptime: Int64 = 0
    private var epoch: Int64 = 0
    /// Seconds by which the clock has moved since the last pruning.
    private var shift: Int64 = 0
    /// Seconds until the clock is believed; 0: it is. Without a state nothing is known of the clock.
    private var wait = HistoryPruning.day
    /// Seconds for which entries are kept, as at the last look; negative: for ever.
    private var limit: Int64?
    /// Seconds since the boot, when this run last pruned, and when it last stored the state.
    private var pruned: Int64?
    private var stored: Int64?

    /// - Parameter state: As it was stored; nil, or anything else, is no state.
    init(_ state: [UInt8]? = nil) {
        let words = String(decoding: state ?? [], as: UTF8.self).split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int64($0) }
        guard words.count == 6, numbers.count == 5, numbers.allSatisfy({ $0.magnitude < 1 << 53 }) else { return }
        boot = String(words[0])
        (uptime, epoch, shift, wait, limit) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
    }

    private var state: [UInt8] { Array("\(boot) \(uptime) \(epoch) \(shift) \(wait) \(limit ?? -1)".utf8) }

    /// Looks at the clock; to be called every minute, and when the limit may have changed.
    ///
    /// - Parameters:
    ///   - boot: The boot that `now` counts from.
    ///   - limit: Seconds for which entries are kept; nil: for ever. A new limit takes effect at once, by the time as it was
    ///     expected while the clock is not believed. 0 needs no clock.
    mutating func look(at clock: WallClock, boot: String, now: MonotonicInstant, keeping limit: Int64?) -> Outcome {
        let uptime = now.nanoseconds / 1_000_000_000
        let limit = limit ?? -1
        var outcome = Outcome()
        if clock.isKnown {
            outcome.doubtedShift = follow(clock.epochSeconds(at: now), uptime, boot)
        } else if limit != 0 {
            return outcome
        }
        let isNew = self.limit.map { $0 != limit } ?? (limit == 0)
        let isDue = wait == 0 && pruned.map { uptime - $0 >= Self.day } ?? true
        if isNew || isDue {
            if limit >= 0 { outcome.before = limit == 0 ? .max : epoch - (wait > 0 ? max(0, shift) : 0) - limit }
            if wait == 0 { (shift, pruned) = (0, uptime) }
        }
        let isNews = isNew || isDue || outcome.doubtedShift != nil || self.limit == nil
        self.limit = limit
        if clock.isKnown, isNews || stored.map({ uptime - $0 >= Self.longestUnstored }) ?? true {
            (outcome.state, stored) = (state, uptime)
        }
        return outcome
    }

    /// Compares the clock with the last look.
    ///
    /// - Returns: By how much the clock has moved, if it is not believed from now on.
    private mutating func follow(_ epoch: Int64, _ uptime: Int64, _ boot: String) -> Int64? {
        defer { (self.boot, self.uptime, self.epoch) = (boot, uptime, epoch) }
        guard !self.boot.isEmpty else { return nil }
        let passed = boot == self.boot ? max(0, uptime - self.uptime) : 0
        if wait > 0, passed > 0 {
            wait = max(0, wait - passed)
            if wait == 0 { shift = 0 }
        }
        let moved = epoch - self.epoch - passed
        shift += moved
        guard moved.magnitude > Self.day || wait == 0 && shift.magnitude > Self.day else { return nil }
        wait = Self.day
        return moved.magnitude > Self.day ? moved : shift
    }
}
