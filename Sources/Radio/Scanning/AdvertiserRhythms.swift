import Base
import Beacon

/// The last few advertisers and how often each is heard.
struct AdvertiserRhythms: Sendable {
    private struct Advertiser: BitwiseCopyable {
        var address: UInt64 = 0
        var lastHeard = MonotonicInstant.zero
        /// Smoothed time between two reports, in nanoseconds.
        var interval: Int64 = 0
        var reports: UInt32 = 0
        /// Smoothed signal strength, in 1/4 dBm.
        var strength: Int32 = 0
    }

    /// Reports before a rhythm is accepted.
    private static let enoughReports: UInt32 = 5
    /// Slower advertisers are ignored, because their silence would have to last too long.
    private static let slowestInterval: Int64 = 1_500_000_000
    /// Missed reports in a row that count as silence. With half of all packets lost, they occur by chance 1 in 64
    /// times.
    private static let missedReports: Int64 = 6
    private static let shortestSilence: Int64 = 3_000_000_000
    /// Missed reports in a row of one advertiser that are worth a question. Presence waits for more.
    private static let reportsBeforeQuestion: Int64 = 4
    /// Silence of all that may be unusual. Presence waits for at least 3 s.
    private static let shortestHush: Int64 = 2_000_000_000
    /// Weaker advertisers may have left the range; −80 dBm is well above the sensitivity of any receiver.
    private static let faintest: Int32 = -80
    /// The strength if the controller gives none: such a report proves nothing here.
    private static let unknownStrength: Int8 = -127

    private var slots = InlineArray<16, Advertiser>(repeating: Advertiser())
    /// Whoever was not heard since then has been judged: its silence proves nothing more.
    private var judgedUntil = MonotonicInstant(nanoseconds: -1)

    mutating func heard(_ report: AdvertisingReport, at now: MonotonicInstant) {
        let address = report.address
        let strength = Int32((report.rssi?.dBm ?? Self.unknownStrength))
        // Addresses of one maker often differ in the low bits only, so those choose the slot.
        let slot = Int(truncatingIfNeeded: (address.value ^ address.value >> 8) & 15)
        if slots[slot].address == address.value, slots[slot].reports > 0 {
            let interval = now.nanoseconds - slots[slot].lastHeard.nanoseconds
            slots[slot].interval += (interval - slots[slot].interval) / (slots[slot].reports == 1 ? 1 : 4)
            slots[slot].reports &+= 1
            slots[slot].lastHeard = now
            slots[slot].strength += strength - slots[slot].strength / 4
        } else {
            slots[slot] = Advertiser(
                address: address.value, lastHeard: now, interval: 0, reports: 1, strength: strength * 4)
        }
    }

    /// Nothing could be heard meanwhile.
    mutating func shift(_ pause: ScanHealth.Pause) {
        for index in slots.indices { slots[index].lastHeard = pause.shifted(slots[index].lastHeard) }
        judgedUntil = pause.shifted(judgedUntil)
    }

    /// The silence of all until now was judged. It counts neither again nor for the rhythms.
    mutating func excuse(until now: MonotonicInstant) {
        guard let last else { return }
        shift(ScanHealth.Pause(since: last, end: now))
        judgedUntil = now
    }

    /// When somebody was heard last.
    private var last: MonotonicInstant? {
        var last: MonotonicInstant?
        for index in slots.indices where slots[index].reports > 0 {
            last = max(last ?? slots[index].lastHeard, slots[index].lastHeard)
        }
        return last
    }

    private func isSteady(_ one: Advertiser) -> Bool {
        one.reports >= Self.enoughReports && one.interval > 0 && one.interval <= Self.slowestInterval
            && one.lastHeard > judgedUntil
    }

    /// Whether an advertiser is steady and near, and had not left before the moment at which somebody was heard last.
    private func isMissed(_ one: Advertiser, since last: MonotonicInstant) -> Bool {
        isSteady(one) && one.strength / 4 >= Self.faintest
            && one.lastHeard.duration(to: last) <= .nanoseconds(2 * one.interval + 100_000_000)
    }

    /// When the silence becomes unusual, because a steady advertiser of any strength should have been heard; nil: never.
    var silenceUnusual: MonotonicInstant? {
        guard let last else { return nil }
        var first: MonotonicInstant?
        for index in slots.indices where isSteady(slots[index]) {
            let due = slots[index].lastHeard.advanced(
                by: .nanoseconds(Self.reportsBeforeQuestion * slots[index].interval))
            first = min(first ?? due, due)
        }
        return first.map { max($0, last.advanced(by: .nanoseconds(Self.shortestHush))) }
    }

    /// When the steady advertisers that fell silent at about the same time will together have missed so many reports that the
    /// cause may be the controller; nil: fewer than two are silent together.
    ///
    /// It comes before any of them has been silent for so long that it may leave, also if the others are slower.
    var silentTogether: MonotonicInstant? {
        guard let last else { return nil }
        var (steady, reportsPerSecond, missedAtLast) = (0, 0.0, 0.0)
        for index in slots.indices where isMissed(slots[index], since: last) {
            let interval = Double(slots[index].interval) * 1e-9
            steady += 1
            reportsPerSecond += 1 / interval
            missedAtLast += slots[index].lastHeard.duration(to: last).inSeconds / interval
        }
        guard steady >= 2 else { return nil }
        let seconds = (Double(Self.missedReports) - missedAtLast) / reportsPerSecond
        return last.advanced(by: max(.seconds(seconds), .nanoseconds(Self.shortestHush)))
    }

    /// Whether two or more steady advertisers stopped at about the same time, long enough ago to exclude chance.
    func fellSilentTogether(before now: MonotonicInstant) -> Bool {
        guard let last else { return false }
        var steady = 0
        for index in slots.indices where isMissed(slots[index], since: last) {
            let silence = now.nanoseconds - slots[index].lastHeard.nanoseconds
            guard silence >= max(Self.shortestSilence, Self.missedReports * slots[index].interval) else { return false }
            steady += 1
        }
        return steady >= 2
    }
}
