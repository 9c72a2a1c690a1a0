import Base

/// Decides from the claims of a `ScanEvidence` whether an adapter listens, when its scan is started again, and when its controller is
/// reset. It is a value without a clock.
///
/// The kernel switches the scan off on purpose for each discovery, each attempt to connect and each change of monitors, and starts
/// it again by itself. Such a pause is nothing to tell a person unless it lasts. A failure is told at once.
struct ScanKeeper {
    enum State: Hashable {
        case confirmed
        /// Not confirmed, for a time that is nothing to tell.
        case pausing
        case silent
    }

    enum Effect: Hashable {
        case startScan
        case reset(because: String)
        /// The controller would be reset if no connection used it.
        case sparesConnection
    }

    /// How long a pause is nothing to tell.
    static let shortPause = Duration.seconds(5)
    /// The delays before the scan is started again. The last holds for all later ones.
    static let delays: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]
    /// Failures in a row after which the controller is reset.
    static let mostFailures: UInt64 = 3
    /// A scan that stayed on for this long ends a row of failures.
    static let lasting = Duration.seconds(10)
    /// A scan that stayed on for this long proves that the resets have helped.
    static let cured = Duration.seconds(60)

    private(set) var state = State.pausing
    /// Why the scan is not confirmed; nil: it is.
    private(set) var objection: String?
    /// Whether a reset is due and does not happen, because a connection uses the controller.
    private(set) var sparesConnection = false
    /// Whether a scan is set up. While none is, nothing is decided.
    private var isOn = false
    private var isFailure = false
    private var confirmedSince: MonotonicInstant?
    private var failuresSeen: UInt64 = 0
    private var failuresInRow: UInt64 = 0
    private var tries = 0
    private var nextTry: MonotonicInstant?
    private var silentAt: MonotonicInstant?
    private var resets = Backoff(from: .seconds(5), to: .seconds(300))
    private var nextReset = MonotonicInstant.zero

    init() {}

    /// When `elapsed` has something to do; nil: never.
    var nextDeadline: MonotonicInstant? {
        guard isOn, state != .confirmed else { return nil }
        let reset = isResetWanted ? max(nextReset, nextTry ?? nextReset) : nil
        return [nextTry, silentAt, reset].compactMap(\.self).min()
    }

    private var isResetWanted: Bool { isFailure && failuresInRow >= Self.mostFailures }

    /// A scan was set up. The evidence may have come before, or comes in milliseconds.
    mutating func begin(_ evidence: ScanEvidence, at now: MonotonicInstant) -> [Effect] {
        isOn = true
        return learned(evidence, at: now)
    }

    /// No scan is set up any more.
    mutating func end(at now: MonotonicInstant) {
        unconfirm(at: now)
        isOn = false
        nextTry = nil
        silentAt = nil
        sparesConnection = false
        if state == .confirmed { state = .pausing }
    }

    /// The evidence may have changed.
    ///
    /// - Parameter isConnected: Whether a connection uses the controller. It is asked only before a reset.
    mutating func learned(
        _ evidence: ScanEvidence, at now: MonotonicInstant, isConnected: () -> Bool = { false }
    ) -> [Effect] {
        let claim = evidence.claim
        objection = claim.objection
        if case .failed = claim { isFailure = true } else { isFailure = false }
        let new = evidence.failures &- failuresSeen
        failuresSeen = evidence.failures
        guard isOn else { return [] }
        guard objection != nil else {
            confirm(at: now)
            return []
        }
        unconfirm(at: now)
        failuresInRow += new
        if isFailure {
            state = .silent
            silentAt = nil
        } else if state == .pausing {
            silentAt = silentAt ?? now.advanced(by: Self.shortPause)
        }
        nextTry = nextTry ?? now.advanced(by: delay)
        return new > 0 ? resetIfDue(at: now, isConnected) : []
    }

    /// Time has passed.
    mutating func elapsed(at now: MonotonicInstant, isConnected: () -> Bool) -> [Effect] {
        guard isOn, state != .confirmed else { return [] }
        if let silentAt, now >= silentAt {
            state = .silent
            self.silentAt = nil
        }
        let reset = resetIfDue(at: now, isConnected)
        if case .reset = reset.first { return reset }
        guard let nextTry, now >= nextTry else { return reset }
        tries += 1
        self.nextTry = now.advanced(by: delay)
        return reset + [.startScan]
    }

    private var delay: Duration { Self.delays[min(tries, Self.delays.count - 1)] }

    private mutating func confirm(at now: MonotonicInstant) {
        state = .confirmed
        confirmedSince = confirmedSince ?? now
        nextTry = nil
        silentAt = nil
        sparesConnection = false
    }

    private mutating func unconfirm(at now: MonotonicInstant) {
        if state == .confirmed { state = .pausing }
        guard let since = confirmedSince else { return }
        confirmedSince = nil
        let lasted = since.duration(to: now)
        if lasted >= Self.lasting { (tries, failuresInRow) = (0, 0) }
        if lasted >= Self.cured { resets.reset() }
    }

    private mutating func resetIfDue(at now: MonotonicInstant, _ isConnected: () -> Bool) -> [Effect] {
        guard isResetWanted, now >= nextReset, let objection else { return [] }
        guard !isConnected() else {
            defer { sparesConnection = true }
            return sparesConnection ? [] : [.sparesConnection]
        }
        nextReset = now.advanced(by: resets.nextDelay())
        // The reset starts the scan, too.
        nextTry = now.advanced(by: delay)
        return [.reset(because: objection)]
    }
}
