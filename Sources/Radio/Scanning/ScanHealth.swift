package import Base
package import Beacon

/// Distinguishes a controller that fails from an absence of beacons. Pure: time comes in, advice comes out.
///
/// Silence alone proves nothing, so it never leads to a reset. It leads to a harmless question to the controller (a
/// probe), early if an advertiser with a steady rhythm was heard last. A controller that does not answer hangs, and is
/// reset. A controller that answers may still be deaf. This is assumed only if several advertisers, each with a steady
/// rhythm and a strong signal, fell silent at the same moment: then the scan is restarted, and if that does not help,
/// the controller is reset, once for each such moment. (Beacons that are carried away together also fall silent
/// together, but with a weak signal.) If the controller answers and nothing is heard, the scan is restarted from time
/// to time, which costs milliseconds.
package struct ScanHealth: Sendable {
    package enum Advice: Hashable, Sendable {
        /// Send the controller a harmless command, then call `probeAnswered` or `probeFailed`.
        case probe
        /// Switch scanning off and on.
        case restartScan(because: String)
        /// Power the controller off and on.
        case reset(because: String)
    }

    /// Silence before the first probe. Perhaps no beacon is in range. A probe costs one command, so the first comes
    /// early and later ones come rarely (see `scanRestarts`).
    static let silenceBeforeProbe = Duration.seconds(20)
    /// Time for a reset to show an effect, before anything else is tried.
    static let patience = Duration.seconds(5)
    /// Silence after which no rhythm gives new information: six reports of the slowest accepted rhythm, and a second
    /// for the tick that detects it.
    static let silenceBeforeSlowTicks = Duration.seconds(10)
    static let slowTick = Duration.seconds(5)

    /// The check in progress.
    private enum Phase: Hashable {
        case listening
        case probing
        /// A reset has not brought reports back. A probe shows whether the controller answers.
        case probingAfterReset
        /// The scan was restarted at this instant, because the controller may be deaf.
        case restarted(MonotonicInstant)
        case resetting(MonotonicInstant)
    }

    private var phase = Phase.listening
    private var lastHeard: MonotonicInstant?
    private var lastTick = MonotonicInstant.zero
    private var listeningSince: MonotonicInstant?
    private var nextProbe: MonotonicInstant?
    /// Delay until a scan in which nothing is heard is restarted.
    private var scanRestarts = Backoff(from: Self.silenceBeforeProbe, to: .seconds(900))
    private var resets = Backoff(from: .seconds(5), to: .seconds(300))
    private var nextReset = MonotonicInstant.zero
    private var failedProbes = 0
    private var rhythms = AdvertiserRhythms()
    private var isSuspected = false
    /// A probe has been unanswered for longer than a tick. A healthy controller answers in milliseconds.
    private var isAnswerLate = false
    /// A probe was sent since the last report.
    private var hasAskedSinceHeard = false
    /// Since when the scan is known to be off for a while; nil: it is not.
    private var pausedSince: MonotonicInstant?

    package init() {}

    /// True while a check is in progress: silence must not count meanwhile.
    package var isDoubtful: Bool { isSuspected || isAnswerLate }

    /// Records one report. It is called for every report, so it takes constant time and allocates nothing.
    package mutating func heard(_ report: AdvertisingReport, at now: MonotonicInstant) {
        rhythms.heard(report, at: now)
        lastHeard = now
        hasAskedSinceHeard = false
    }

    /// Scanning has begun, for the first time or again.
    package mutating func scanStarted(at now: MonotonicInstant) {
        listeningSince = now
        nextProbe = now.advanced(by: scanRestarts.delay)
        if case .resetting = phase { phase = .resetting(now) }
        if isProbing { phase = .listening }
        isAnswerLate = false
    }

    /// Scanning has ended for a known reason (adapter off, unplugged): there is nothing to check.
    package mutating func scanStopped() {
        listeningSince = nil
        isAnswerLate = false
        if case .resetting = phase { return }
        phase = .listening
        isSuspected = false
        rhythms = AdvertiserRhythms()
    }

    /// The controller is known not to scan for a while, or scans again. Silence means nothing meanwhile, and what was known before
    /// holds afterwards: a controller may become deaf during a pause.
    package mutating func setPaused(_ isPaused: Bool, at now: MonotonicInstant) {
        if isPaused {
            pausedSince = pausedSince ?? now
        } else if let since = pausedSince {
            pausedSince = nil
            resume(Pause(since: since, end: now))
        }
    }

    /// Moves what was noted before a pause, so that the pause does not count as time.
    struct Pause {
        let since: MonotonicInstant
        let end: MonotonicInstant

        func shifted(_ instant: MonotonicInstant) -> MonotonicInstant {
            instant.advanced(by: max(since, instant).duration(to: end))
        }
    }

    private mutating func resume(_ pause: Pause) {
        rhythms.shift(pause)
        lastHeard = lastHeard.map(pause.shifted)
        listeningSince = listeningSince.map(pause.shifted)
        nextProbe = nextProbe.map {
            min($0.advanced(by: pause.since.duration(to: pause.end)), pause.end.advanced(by: scanRestarts.delay))
        }
        switch phase {
        case .restarted(let since): phase = .restarted(pause.shifted(since))
        case .resetting(let since): phase = .resetting(pause.shifted(since))
        case .listening, .probing, .probingAfterReset: break
        }
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
            scanRestarts.failed()
            nextProbe = now.advanced(by: scanRestarts.delay)
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
        // One missing answer proves nothing: a busy controller may be slow.
        guard failedProbes >= 2 else { return .probe }
        return reset(because: "the controller hangs: it answers no command", at: now)
    }

    /// How long after a tick the next is due.
    ///
    /// While nothing is heard, the processor need not wake each second: no tick before the next probe has an effect.
    package func nextTick(after now: MonotonicInstant) -> Duration {
        guard phase == .listening, !isDoubtful else { return .seconds(1) }
        guard let listeningSince, pausedSince == nil else { return Self.slowTick }
        let quiet = max(lastHeard ?? .zero, listeningSince).duration(to: now)
        return quiet > Self.silenceBeforeSlowTicks ? Self.slowTick : .seconds(1)
    }

    /// Called about once a second, or at the time of `nextTick`.
    package mutating func tick(at now: MonotonicInstant) -> Advice? {
        defer { lastTick = now }
        guard let listeningSince, pausedSince == nil else { return nil }
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
            // Too soon after the last reset: continue with probes.
            phase = .listening
            nextProbe = nextReset
            return nil
        }
        nextReset = now.advanced(by: resets.nextDelay())
        phase = .resetting(now)
        rhythms = AdvertiserRhythms()
        return .reset(because: reason)
    }

    /// The controller was reset and is still silent. If it answers now, no beacon is near.
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
        scanRestarts.reset()
        resets.reset()
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

    /// Reports before a rhythm is accepted.
    private static let enoughReports: UInt32 = 5
    /// Slower advertisers are ignored, because their silence would have to last too long.
    private static let slowestInterval: Int64 = 1_500_000_000
    /// Missed reports in a row that count as silence. With half of all packets lost, they occur by chance 1 in 64
    /// times.
    private static let missedReports: Int64 = 6
    private static let shortestSilence: Int64 = 3_000_000_000
    /// Weaker advertisers may have left the range; −80 dBm is well above the sensitivity of any receiver.
    private static let faintest: Int32 = -80
    /// The strength if the controller gives none: such a report proves nothing here.
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

    /// Nothing could be heard meanwhile.
    mutating func shift(_ pause: ScanHealth.Pause) {
        for index in slots.indices { slots[index].lastHeard = pause.shifted(slots[index].lastHeard) }
    }

    /// Whether nothing is heard although a steady advertiser of any strength should have been heard.
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

    /// Whether two or more steady advertisers stopped at about the same time, long enough ago to exclude chance.
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
            // Advertisers that had left before that moment do not count.
            guard last - one.lastHeard.nanoseconds <= 2 * one.interval + 100_000_000 else { continue }
            let silence = now.nanoseconds - one.lastHeard.nanoseconds
            guard silence >= max(Self.shortestSilence, Self.missedReports * one.interval) else { return false }
            steady += 1
        }
        return steady >= 2
    }
}
