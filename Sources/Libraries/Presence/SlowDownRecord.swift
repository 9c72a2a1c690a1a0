/// Whether a quick beacon slows down when it is put to rest, as far as its reception at one receiver tells.
///
/// At the instant of the change, a slow-down looks like a departure. So a quick beacon is held for a while
/// (`PresenceTiming.quickLeaveTimeoutSeconds`), until an hour of reception shows that it keeps its rhythm. A beacon
/// that did slow down, or whose UUID has another one that did, is always held. Once its slow rhythm was measured, the
/// hold covers several slow advertisements, so that it also outlasts a loss of the first ones.
package struct SlowDownRecord: Hashable, Sendable, BitwiseCopyable {
    /// Up to `enough`: reception in a quick rhythm since the last doubt, in units of `unitSeconds`. Above it, the
    /// beacon slows down: the excess over `enough` is its slow interval, in `slowStepSeconds`; `slowing` is an unknown
    /// interval. One byte, because a beacon must fit into 200 bytes.
    private var quickReception: UInt8 = 0
    /// Slow gaps in a row that agree with each other; above them, in units of `oneAbsence`, absences since reception
    /// was added last. One byte, too.
    private var counts: UInt8 = 0
    /// The shortest of them, in milliseconds.
    private var slowGap: UInt16 = 0

    /// Stored, so it depends on no tuning constant.
    private static let enough: UInt8 = 225
    private static let slowing = UInt8.max
    private static let unitSeconds = PresenceTiming.receptionToKeepRhythmSeconds / Float(enough)
    /// 28 steps reach beyond the slowest legal interval, 10.24 s.
    private static let slowStepSeconds: Float = 0.4

    private static let oneAbsence: UInt8 = 16

    private var slowGaps: UInt8 {
        get { counts & (Self.oneAbsence - 1) }
        set { counts = counts & ~(Self.oneAbsence - 1) | newValue }
    }

    package init() {}

    /// Whether the beacon, or another one of its UUID, slowed down.
    package var slowsDown: Bool { quickReception > Self.enough }

    /// Whether the beacon was received for long enough without a slow-down.
    package var keepsRhythm: Bool { quickReception == Self.enough }

    /// The interval of the slow rhythm, at most one step too long; nil as long as it was not measured.
    package var slowIntervalSeconds: Float? {
        slowsDown && quickReception < Self.slowing ? Float(quickReception - Self.enough) * Self.slowStepSeconds : nil
    }

    /// How long a quick beacon is held in case it slows down now.
    ///
    /// - Parameter hearing: Share of the advertisements that arrive, 0 … 1.
    package func holdSeconds(hearing: Float) -> Float {
        guard let interval = slowIntervalSeconds else { return PresenceTiming.quickLeaveTimeoutSeconds }
        var (lost, chance) = (1, 1 - hearing)
        while chance > PresenceTiming.slowDownRisk, lost < PresenceTiming.mostSlowAdvertisements {
            lost += 1
            chance *= 1 - hearing
        }
        return max(PresenceTiming.quickLeaveTimeoutSeconds, Float(lost) * interval + 1)
    }

    /// The beacon was received for this long in its quick rhythm.
    mutating func add(receptionSeconds: Float) {
        counts = slowGaps
        guard !slowsDown else { return }
        let units = Int(min((receptionSeconds / Self.unitSeconds).rounded(), Float(Self.enough)))
        quickReception = UInt8(min(Int(quickReception) + units, Int(Self.enough)))
    }

    /// A slow-down is possible again: the beacon returned after a silence for which it would have been held otherwise.
    mutating func doubt() {
        if !slowsDown { quickReception = 0 }
    }

    /// The beacon, which keeps its rhythm, returned after a silence that no rule allows.
    ///
    /// - Returns: whether it does so again and again, in about three minutes of reception at 100 ms. Then it was not
    ///   away: its silences belong to its rhythm, and a slow-down is possible again.
    mutating func doubtsAbsence() -> Bool {
        counts += Self.oneAbsence
        guard counts >= PresenceTiming.absencesToDoubt * Self.oneAbsence else { return false }
        counts = slowGaps
        doubt()
        return true
    }

    /// The beacon slowed down, or another one of its UUID did.
    mutating func expectSlowDown() {
        if !slowsDown { quickReception = Self.slowing }
    }

    /// A gap came that is far longer than those of the quick rhythm.
    ///
    /// Gaps in a shadow are long, too, but of all lengths. Gaps of a slow rhythm are whole multiples of one length.
    ///
    /// - Returns: whether it completes a slow-down that was not known yet.
    mutating func add(slowGap gap: Float) -> Bool {
        let gap = UInt16(min(gap * 1000, 65_000))
        let (short, long) = (Float(min(gap, slowGap)), Float(max(gap, slowGap)))
        let multiple = short > 0 ? (long / short).rounded() : 0
        // The random delay of 0–10 ms of each advertisement, and the delays of the host.
        let tolerance = 30 + 10 * multiple
        if slowGaps > 0, abs(long - multiple * short) <= tolerance {
            slowGaps += 1
            slowGap = min(slowGap, gap)
        } else {
            slowGaps = 1
            slowGap = gap
        }
        guard slowGaps >= PresenceTiming.gapsToKnowSlowDown else { return false }
        slowGaps = 0
        let isNew = !slowsDown
        let steps = (Float(slowGap) / 1000 / Self.slowStepSeconds).rounded(.up)
        quickReception = Self.enough + UInt8(min(max(steps, 1), Float(Self.slowing - 1 - Self.enough)))
        return isNew
    }

    /// A gap of the quick rhythm came.
    mutating func endSlowGaps() { slowGaps = 0 }
}

extension SlowDownRecord {
    /// Absences are not stored.
    func put(into writer: inout StateWriter) {
        writer.put(quickReception)
        writer.put(slowGaps)
        writer.put(slowGap)
    }

    init(from reader: inout StateReader) throws(StateReader.Malformed) {
        quickReception = try reader.read()
        counts = min(try reader.read(), PresenceTiming.gapsToKnowSlowDown - 1)
        slowGap = try reader.read()
    }
}
