package import Base
package import Beacon

/// Tells a controller that fails from a house that is quiet. Pure: time comes in, advice comes out.
///
/// Silence alone proves nothing, so it never leads to a reset. It leads to a harmless question to the
/// controller (a probe), soon where somebody with a steady rhythm was heard last. Who does not answer hangs, and is
/// reset. Who answers may still be deaf; that is
/// believed only where several advertisers, each with a steady rhythm and well heard, fell silent in the same
/// moment: then the scan is started afresh, and if that does not help, the controller is reset, once for each such
/// moment. (Beacons that are carried away together fall silent in one moment too, but faintly.)
/// A quiet controller that answers has its scan started afresh now and then, which costs milliseconds.
package struct ScanHealth: Sendable {
    package enum Advice: Hashable, Sendable {
        /// Ask the controller something harmless and tell `probeAnswered` or `probeFailed`.
        case probe
        /// Switch scanning off and on.
        case restartScan(because: String)
        /// Power the controller off and on.
        case reset(because: String)
    }

    /// Silence before a controller is asked whether it lives. Beacons at home may all be in a metal tin:
    /// the question costs one command, so it may be asked soon, and seldom again (see `backOff`).
    static let silenceBeforeProbe = Duration.seconds(20)
    /// A reset gets this long to show an effect before anything else is tried.
    static let patience = Duration.seconds(5)
    static let firstBackOff = Duration.seconds(5)
    static let longestBackOff = Duration.seconds(300)
    static let longestQuietInterval = Duration.seconds(900)
    /// Silence after which nobody's rhythm says anything new: six reports of the slowest that is believed, and a
    /// second for the tick that notes it.
    static let silenceBeforeSlowTicks = Duration.seconds(10)
    static let slowTick = Duration.seconds(5)

    /// What is going on besides listening.
    private enum Phase: Hashable {
        case listening
        case probing
        /// A reset has not brought reports back: does the controller at least answer?
        case probingAfterReset
        /// The scan was started afresh at this instant because of a suspicion.
        case restarted(MonotonicInstant)
        case resetting(MonotonicInstant)
    }

    private var phase = Phase.listening
    private var lastHeard: MonotonicInstant?
    private var lastTick = MonotonicInstant.zero
    private var listeningSince: MonotonicInstant?
    private var nextProbe: MonotonicInstant?
    private var quietInterval = Self.silenceBeforeProbe
    private var backOff = Self.firstBackOff
    private var nextReset = MonotonicInstant.zero
    private var failedProbes = 0
    private var rhythms = AdvertiserRhythms()
    private var isSuspected = false
    /// The controller has been asked, and a tick later has still not answered. Healthy ones answer in milliseconds.
    private var isAnswerLate = false
    /// The controller has been asked since something was heard last.
    private var hasAskedSinceHeard = false

    package init() {}

    /// True between suspicion and proof of health: absence must not be counted meanwhile.
    package var isDoubtful: Bool { isSuspected || isAnswerLate }

    /// One report. Called for every report, so it is constant time and allocates nothing.
    package mutating func heard(_ report: AdvertisingReport, at now: MonotonicInstant) {
        rhythms.heard(report, at: now)
        lastHeard = now
        hasAskedSinceHeard = false
    }

    /// Scanning has begun, for the first time or again.
    package mutating func scanStarted(at now: MonotonicInstant) {
        listeningSince = now
        nextProbe = now.advanced(by: quietInterval)
        if case .resetting = phase { phase = .resetting(now) }
        if isProbing { phase = .listening }
        isAnswerLate = false
    }

    /// Scanning has ended for a known reason (adapter off, unplugged): nothing is to be judged.
    package mutating func scanStopped() {
        listeningSince = nil
        isAnswerLate = false
        if case .resetting = phase { return }
        phase = .listening
        isSuspected = false
        rhythms = AdvertiserRhythms()
    }

    /// The controller answered a probe, so it does not hang.
    package mutating func probeAnswered(at now: MonotonicInstant) -> Advice? {
        guard isProbing else { return nil }
        failedProbes = 0
        isAnswerLate = false
        if phase == .probingAfterReset { isSuspected = false }
        guard isSuspected else {
            phase = .listening
            guard quietFor(now) >= Self.silenceBeforeProbe else { return nil }
            quietInterval = min(quietInterval * 2, Self.longestQuietInterval)
            nextProbe = now.advanced(by: quietInterval)
            return .restartScan(because: "nothing heard for a while; the controller answers")
        }
        phase = .restarted(now)
        return .restartScan(because: "all advertisers fell silent at once; the controller answers")
    }

    /// The controller did not answer a probe in time.
    package mutating func probeFailed(at now: MonotonicInstant) -> Advice? {
        guard isProbing else { return nil }
        isSuspected = true
        failedProbes += 1
        // One lost answer is no proof: a busy controller may be slow.
        guard failedProbes >= 2 else { return .probe }
        return reset(because: "the controller hangs: it answers no command", at: now)
    }

    /// How long after a tick the next is due.
    ///
    /// A house where nothing is heard should not wake the processor each second: until the next probe, seconds away,
    /// no tick finds anything.
    package func nextTick(after now: MonotonicInstant) -> Duration {
        guard phase == .listening, !isDoubtful else { return .seconds(1) }
        guard let listeningSince else { return Self.slowTick }
        let quiet = max(lastHeard ?? .zero, listeningSince).duration(to: now)
        return quiet > Self.silenceBeforeSlowTicks ? Self.slowTick : .seconds(1)
    }

    /// To be called about once a second, or as `nextTick` says.
    package mutating func tick(at now: MonotonicInstant) -> Advice? {
        defer { lastTick = now }
        guard let listeningSince else { return nil }
        if let lastHeard, lastHeard > listeningSince,
            lastHeard.duration(to: now) < .seconds(2) || lastHeard > lastTick
        {
            recover()
            return nil
        }
        switch phase {
        case .probing, .probingAfterReset:
            isAnswerLate = true
            return nil
        case .restarted(let since):
            guard since.duration(to: now) >= Self.patience else { return nil }
            return reset(because: "the controller is deaf: it answers, but reports nothing", at: now)
        case .resetting(let since):
            guard since.duration(to: now) >= Self.patience else { return nil }
            return afterUselessReset(at: now)
        case .listening: return lookForSilence(at: now)
        }
    }

    private var isProbing: Bool { phase == .probing || phase == .probingAfterReset }

    private mutating func lookForSilence(at now: MonotonicInstant) -> Advice? {
        if !isSuspected, rhythms.fellSilentTogether(before: now) {
            isSuspected = true
            phase = .probing
            return .probe
        }
        if !hasAskedSinceHeard, rhythms.isSilenceUnusual(at: now) {
            hasAskedSinceHeard = true
            phase = .probing
            return .probe
        }
        guard let nextProbe, now >= nextProbe else { return nil }
        guard quietFor(now) >= Self.silenceBeforeProbe else { return nil }
        phase = .probing
        return .probe
    }

    private func quietFor(_ now: MonotonicInstant) -> Duration {
        max(lastHeard ?? .zero, listeningSince ?? .zero).duration(to: now)
    }

    private mutating func reset(because reason: String, at now: MonotonicInstant) -> Advice? {
        guard now >= nextReset else {
            // Too soon after the last one: go on asking instead.
            phase = .listening
            nextProbe = nextReset
            return nil
        }
        nextReset = now.advanced(by: backOff)
        backOff = min(backOff * 2, Self.longestBackOff)
        phase = .resetting(now)
        rhythms = AdvertiserRhythms()
        return .reset(because: reason)
    }

    /// Reset and still silent. If the controller answers now, the house is quiet after all.
    private mutating func afterUselessReset(at now: MonotonicInstant) -> Advice? {
        phase = .probingAfterReset
        failedProbes = 0
        return .probe
    }

    private mutating func recover() {
        phase = .listening
        isSuspected = false
        isAnswerLate = false
        failedProbes = 0
        quietInterval = Self.silenceBeforeProbe
        backOff = Self.firstBackOff
    }
}

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

    /// Reports before a rhythm is believed.
    private static let enoughReports: UInt32 = 5
    /// Slower advertisers would need too long a silence to mean anything.
    private static let slowestInterval: Int64 = 1_500_000_000
    /// Missed reports in a row that are no accident; at half of all packets lost, 1 in 64 for one advertiser.
    private static let missedReports: Int64 = 6
    private static let shortestSilence: Int64 = 3_000_000_000
    /// Fainter advertisers may just have gone out of range; −80 dBm is well above what any receiver needs.
    private static let faintest: Int32 = -80
    /// Stands for the strength where the controller gives none: such a report proves nothing here.
    private static let unknownStrength: Int8 = -127

    private var slots = InlineArray<16, Advertiser>(repeating: Advertiser())

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

    /// Whether nobody is heard although somebody steady, whoever it is and however faint, should have been.
    func isSilenceUnusual(at now: MonotonicInstant) -> Bool {
        var isUnusual = false
        for index in slots.indices where slots[index].reports > 0 {
            let one = slots[index]
            let silence = now.nanoseconds - one.lastHeard.nanoseconds
            guard silence >= Self.shortestSilence else { return false }
            guard one.reports >= Self.enoughReports, one.interval <= Self.slowestInterval else { continue }
            if silence >= Self.missedReports * one.interval { isUnusual = true }
        }
        return isUnusual
    }

    /// Whether two or more steady advertisers stopped within one another's rhythm, long enough ago to be no accident.
    func fellSilentTogether(before now: MonotonicInstant) -> Bool {
        var last = Int64.min
        for index in slots.indices where slots[index].reports > 0 {
            last = max(last, slots[index].lastHeard.nanoseconds)
        }
        var steady = 0
        for index in slots.indices {
            let one = slots[index]
            guard one.reports >= Self.enoughReports, one.interval <= Self.slowestInterval,
                one.strength / 4 >= Self.faintest
            else { continue }
            // Those that had left before the moment in question say nothing about it.
            guard last - one.lastHeard.nanoseconds <= 2 * one.interval + 100_000_000 else { continue }
            let silence = now.nanoseconds - one.lastHeard.nanoseconds
            guard silence >= max(Self.shortestSilence, Self.missedReports * one.interval) else { return false }
            steady += 1
        }
        return steady >= 2
    }
}
