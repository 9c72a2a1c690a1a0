import Base

/// Whether a discovery that was asked of bluetoothd is on. Pure: what bluetoothd says and the time come in, the consequences go out.
///
/// An answer alone proves nothing. `InProgress` is what bluetoothd answers to every start that failed (src/adapter.c,
/// `start_discovery_complete`). The property `Discovering` is what the kernel has told bluetoothd, so it decides.
///
/// bluetoothd begins each round of a discovery anew. If the controller refuses a later round, `Discovering` stays true and nobody is
/// told. So a discovery that hears nothing is asked for anew: then there is an answer.
struct DiscoveryEvidence: Sendable {
    enum Answer: Hashable, Sendable {
        case granted
        /// The start failed, or this program has a discovery already.
        case inProgress
        case refused(String)
    }

    enum Effect: Hashable, Sendable {
        case listens
        /// The adapter does not listen. The discovery is to be asked for again after this delay.
        case fails(because: String, retryAfter: Duration)
        /// The discovery is to be withdrawn and asked for anew. Until the answer it counts as on.
        case askAnew
        /// `elapsed` is to be called after this time, instead of an earlier one.
        case look(after: Duration)
        /// `elapsed` is not to be called any more.
        case stopLooking
    }

    private enum State: Hashable {
        case idle
        case asked
        /// Answered, and `Discovering` decides.
        case answered(isOwn: Bool)
        /// - Parameter isOwn: Whether bluetoothd has granted the discovery. If not, that of another program is on.
        case on(isOwn: Bool)
        /// Between two rounds.
        case pausing
    }

    /// Time between the answer and the judgement. bluetoothd tells within milliseconds.
    static let patience = Duration.seconds(2)
    /// bluetoothd pauses its discovery for up to 5 s between rounds.
    static let longestPause = Duration.seconds(8)
    static let retryDelay = Duration.seconds(2)
    /// Silence of all devices after which a discovery is asked for anew. Each device that is near is reported once in a round of 10.9 s
    /// (Linux 6.1, BlueZ 5.66). Where nobody is near, that happens ever more rarely.
    private static let longestSilence = (first: Duration.seconds(15), last: Duration.seconds(900))

    private var checks = Backoff(from: Self.longestSilence.first, to: Self.longestSilence.last)
    private var lastHeard = MonotonicInstant.zero
    private var state = State.idle
    /// The property `Discovering`.
    private(set) var isDiscovering = false

    mutating func asked() { state = .asked }

    /// Whether it was asked for, and not answered yet.
    var isAsked: Bool { state == .asked }

    /// There is no discovery: the adapter is off or gone, or bluetoothd has ended.
    mutating func ended() {
        state = .idle
        isDiscovering = false
    }

    /// A device was reported.
    mutating func heard(at now: MonotonicInstant) {
        lastHeard = now
        checks.reset()
    }

    /// Called about once a second.
    mutating func tick(at now: MonotonicInstant) -> [Effect] {
        guard case .on = state, lastHeard.duration(to: now) >= checks.delay else { return [] }
        checks.failed()
        return [.askAnew]
    }

    mutating func answered(_ answer: Answer, at now: MonotonicInstant) -> [Effect] {
        guard state == .asked else { return [] }
        switch answer {
        case .refused(let reason): return fail("no discovery: \(reason)")
        case .granted where isDiscovering: return listen(isOwn: true, at: now)
        case .granted, .inProgress:
            state = .answered(isOwn: answer == .granted)
            return [.look(after: Self.patience)]
        }
    }

    /// Takes the property `Discovering`.
    mutating func discovers(_ isDiscovering: Bool, at now: MonotonicInstant) -> [Effect] {
        guard isDiscovering != self.isDiscovering else { return [] }
        self.isDiscovering = isDiscovering
        switch (state, isDiscovering) {
        case (.answered(isOwn: true), true): return [.stopLooking] + listen(isOwn: true, at: now)
        case (.pausing, true):
            state = .on(isOwn: true)
            return [.stopLooking]
        case (.on(isOwn: true), false):
            state = .pausing
            return [.look(after: Self.longestPause)]
        case (.on(isOwn: false), false): return fail("the discovery of another program ended")
        default: return []
        }
    }

    /// The time of `look` has passed.
    mutating func elapsed(at now: MonotonicInstant) -> [Effect] {
        switch state {
        case .answered(let isOwn):
            guard !isDiscovering else { return listen(isOwn: isOwn, at: now) }
            return fail(
                isOwn
                    ? "no discovery: bluetoothd granted it, and does not discover"
                    : "no discovery: bluetoothd answers InProgress, as it does when a start fails, and does not discover"
            )
        case .pausing: return fail("the discovery ended", retryAfter: .zero)
        default: return []
        }
    }

    private mutating func listen(isOwn: Bool, at now: MonotonicInstant) -> [Effect] {
        state = .on(isOwn: isOwn)
        lastHeard = max(lastHeard, now)
        return [.listens]
    }

    private mutating func fail(_ reason: String, retryAfter delay: Duration = Self.retryDelay) -> [Effect] {
        state = .idle
        return [.fails(because: reason, retryAfter: delay)]
    }
}
