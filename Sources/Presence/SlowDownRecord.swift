/// Whether a quick beacon slows down when it is put to rest, as far as its reception at one receiver tells.
///
/// At the instant of the change, a slow-down looks like a departure. So a quick beacon is held for a while
/// (`PresenceTiming.quickLeaveTimeoutSeconds`), until an hour of reception shows that it keeps its rhythm. A beacon
/// that did slow down, or whose UUID has another one that did, is always held.
package struct SlowDownRecord: Hashable, Sendable, BitwiseCopyable {
    /// Reception in a quick rhythm since the last doubt, in units of `unitSeconds`; `slowing`: the beacon slows down.
    /// One byte, because a beacon must fit into 200 bytes.
    private var quickReception: UInt8 = 0
    /// Slow gaps in a row that agree with each other.
    private var slowGaps: UInt8 = 0
    /// The shortest of them, in milliseconds.
    private var slowGap: UInt16 = 0

    private static let unitSeconds: Float = 16
    private static let slowing = UInt8.max
    private static var enough: UInt8 { UInt8(PresenceTiming.receptionToKeepRhythmSeconds / unitSeconds) }

    package init() {}

    /// Whether the beacon, or another one of its UUID, slowed down.
    package var slowsDown: Bool { quickReception == Self.slowing }

    /// Whether the beacon was received for long enough without a slow-down.
    package var keepsRhythm: Bool { quickReception >= Self.enough && !slowsDown }

    /// The beacon was received for so long in its quick rhythm.
    mutating func add(receptionSeconds: Float) {
        guard !slowsDown else { return }
        let units = Int(min(receptionSeconds / Self.unitSeconds, Float(Self.enough)))
        quickReception = UInt8(min(Int(quickReception) + units, Int(Self.enough)))
    }

    /// A slow-down is possible again: the beacon returned after a silence for which it would have been held otherwise.
    mutating func doubt() {
        if !slowsDown { quickReception = 0 }
    }

    /// The beacon slowed down, or another one of its UUID did.
    mutating func expectSlowDown() { quickReception = Self.slowing }

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
        guard !slowsDown else { return false }
        expectSlowDown()
        return true
    }

    /// A gap of the quick rhythm came.
    mutating func endSlowGaps() { slowGaps = 0 }
}

extension SlowDownRecord {
    func put(into writer: inout StateWriter) {
        writer.put(quickReception)
        writer.put(slowGaps)
        writer.put(slowGap)
    }

    init(from reader: inout StateReader) throws(StateReader.Malformed) {
        quickReception = try reader.read()
        slowGaps = try reader.read()
        slowGap = try reader.read()
        // Another version may have had other constants.
        if !slowsDown { quickReception = min(quickReception, Self.enough) }
        slowGaps = min(slowGaps, PresenceTiming.gapsToKnowSlowDown - 1)
    }
}
