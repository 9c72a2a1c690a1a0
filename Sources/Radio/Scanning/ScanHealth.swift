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
///
/// Presence gives up a beacon after 3 s at the earliest, so a doubt must begin before that, and before it is worth a line in the log:
/// silence does not count while the steady advertisers together have missed too much (`isUncertain`).
package struct ScanHealth: Sendable {
    package enum Advice: Hashable, Sendable {
        /// Send the controller a harmless command, then call `probeAnswered`, `probeFailed` or `probeNotSent`.
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
    /// A healthy controller answers a probe in less.
    static let promptAnswer = Duration.milliseconds(100)
    /// Time for an answer before the controller is doubted.
    static let lateAnswer = Duration.seconds(1)
    /// The adapter may have been off for so long in the same place, as when it is reset, and hears the same advertisers again.
    static let shortStop = Duration.seconds(60)
    /// The least time between two ticks.
    static let leastTick = Duration.milliseconds(10)

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
    /// A probe has been unanswered for `lateAnswer`.
    private var isAnswerLate = false
    /// When the probe in progress was sent.
    private var askedAt = MonotonicInstant.zero
    /// A probe was sent since the last report.
    private var hasAskedSinceHeard = false
    /// Since when the scan is known to be off for a while; nil: it is not.
    private var pausedSince: MonotonicInstant?
    /// Since when the scan has ended; nil: it has not, or never began.
    private var stoppedSince: MonotonicInstant?

    package init() {}

    /// True while a check is in progress: silence must not count meanwhile.
    package var isDoubtful: Bool { isSuspected || isAnswerLate }
    /// True while it is not known whether the controller hears. Silence must not count meanwhile, which is nothing to tell yet.
    package private(set) var isUncertain = false

    /// Records one report. It is called for every report, so it takes constant time and allocates nothing.
    package mutating func heard(_ report: AdvertisingReport, at now: MonotonicInstant) {
        rhythms.heard(report, at: now)
        lastHeard = now
        hasAskedSinceHeard = false
    }

    /// Scanning has begun, for the first time or again.
    package mutating func scanStarted(at now: MonotonicInstant) {
        if let since = stoppedSince {
            stoppedSince = nil
            if since.duration(to: now) > Self.shortStop { rhythms = AdvertiserRhythms() }
            resume(Pause(since: since, end: now))
        }
        listeningSince = now
        nextProbe = now.advanced(by: scanRestarts.delay)
        if case .resetting = phase { phase = .resetting(now) }
        if isProbing { phase = .listening }
        isAnswerLate = false
    }

    /// Scanning has ended for a known reason (adapter off, unplugged): there is nothing to check. A stop that is short counts as
    /// a pause, because a controller may become deaf right after it.
    package mutating func scanStopped(at now: MonotonicInstant) {
        if listeningSince != nil { stoppedSince = now }
        listeningSince = nil
        isAnswerLate = false
        isUncertain = false
        if case .resetting = phase { return }
        phase = .listening
        isSuspected = false
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
        isUncertain = isSilenceOfAll(at: now)
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

    /// The probe could not be sent, which says nothing of the controller: it is not reset because of it. A doubt stays until a report, or
    /// a probe that is answered, ends it.
    package mutating func probeNotSent(at now: MonotonicInstant) -> Advice? {
        guard isProbing else { return nil }
        phase = .listening
        isAnswerLate = false
        isUncertain = isSilenceOfAll(at: now)
        if isSuspected {
            nextProbe = now.advanced(by: Self.silenceBeforeProbe)
            return .restartScan(because: "all advertisers fell silent at once; the controller cannot be asked")
        }
        guard quietFor(now) >= Self.silenceBeforeProbe else { return nil }
        scanRestarts.failed()
        nextProbe = now.advanced(by: scanRestarts.delay)
        return .restartScan(because: "nothing heard for a while; the controller cannot be asked")
    }

    /// How long after a tick the next is due.
    ///
    /// While nothing is heard, the processor need not wake each second: no tick before the next probe has an effect. A silence
    /// that becomes unusual has a tick of its own, because presence does not wait for the next.
    package func nextTick(after now: MonotonicInstant) -> Duration {
        guard !isProbing || isUncertain else { return Self.promptAnswer }
        guard phase == .listening, !isDoubtful, pausedSince == nil else { return .seconds(1) }
        guard let listeningSince else {
            let isShort = stoppedSince.map { $0.duration(to: now) <= Self.shortStop } ?? false
            return isShort ? .seconds(1) : Self.slowTick
        }
        let quiet = max(lastHeard ?? .zero, listeningSince).duration(to: now)
        guard quiet <= Self.silenceBeforeSlowTicks else { return Self.slowTick }
        let unusual = [rhythms.silentTogether, hasAskedSinceHeard ? nil : rhythms.silenceUnusual].compactMap(\.self)
        let next = unusual.map { now.duration(to: $0) }.filter { $0 > .zero }.min() ?? .seconds(1)
        return min(max(next, Self.leastTick), .seconds(1))
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
            isUncertain = true
            if askedAt.duration(to: now) >= Self.lateAnswer { isAnswerLate = true }
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

    /// Whether the steady advertisers are silent together for so long that the cause may be the controller.
    private func isSilenceOfAll(at now: MonotonicInstant) -> Bool {
        guard let silent = rhythms.silentTogether else { return false }
        return now >= silent
    }

    private var isProbing: Bool { phase == .probing || phase == .probingAfterReset }

    private mutating func lookForSilence(at now: MonotonicInstant) -> Advice? {
        isUncertain = isSilenceOfAll(at: now)
        if !isSuspected, rhythms.fellSilentTogether(before: now) {
            isSuspected = true
            return ask(at: now)
        }
        if !hasAskedSinceHeard, let unusual = rhythms.silenceUnusual, now >= unusual {
            hasAskedSinceHeard = true
            return ask(at: now)
        }
        guard let nextProbe, now >= nextProbe else { return nil }
        guard quietFor(now) >= Self.silenceBeforeProbe else { return nil }
        return ask(at: now)
    }

    private mutating func ask(at now: MonotonicInstant) -> Advice {
        phase = .probing
        askedAt = now
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
        rhythms.excuse(until: now)
        return .reset(because: reason)
    }

    /// The controller was reset and is still silent. If it answers now, no beacon is near.
    private mutating func afterUselessReset(at now: MonotonicInstant) -> Advice? {
        phase = .probingAfterReset
        askedAt = now
        failedProbes = 0
        return .probe
    }

    private mutating func recover() {
        phase = .listening
        isSuspected = false
        isAnswerLate = false
        isUncertain = false
        failedProbes = 0
        scanRestarts.reset()
        resets.reset()
    }
}
