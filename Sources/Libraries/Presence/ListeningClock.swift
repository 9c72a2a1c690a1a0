package import Base
package import Beacon

/// Counts, for each receiver, the time in which it listened: silence means nothing while no receiver listens.
package struct ListeningClock: Hashable, Sendable {
    /// The clock of one receiver.
    private struct ReceiverClock: Hashable {
        /// Nanoseconds listened before `resumed`.
        var elapsed: Int64 = 0
        /// Nanoseconds of the monotonic clock; nil while the receiver does not listen.
        var resumed: Int64?
        /// Whether the receiver has reported since the start whether it listens. A receiver that is known from an
        /// earlier run and has not reported may be an adapter that was removed.
        var isKnown = false
        /// `anyReceiver`'s time when this receiver last ceased to listen.
        var anyReceiverAtEnd: Int64 = 0
        /// Share of the time in which the radio is on while the receiver listens, 0.01 … 1.
        var duty: Float = 1
        /// Listening time at which the duty last changed; a large negative number if it never changed.
        var dutySince = Int64.min / 2

        func time(at now: MonotonicInstant) -> Int64 {
            guard let resumed else { return elapsed }
            return elapsed + max(0, now.nanoseconds - resumed)
        }

        mutating func stop(at now: MonotonicInstant) {
            elapsed = time(at: now)
            resumed = nil
        }
    }

    /// By index of the receiver, up to the highest that has reported.
    private var clocks: [ReceiverClock] = []
    /// Runs while any receiver listens.
    private var anyReceiver = ReceiverClock()
    /// The time of `timeOfAny` at which a receiver last began or ceased to listen, or its duty changed.
    package private(set) var unchangedSince = Int64.min / 2
    /// The least scan duty of all receivers.
    private(set) var leastDuty: Float = 1

    package init() {}

    /// Whether any receiver listens.
    package var isListening: Bool { anyReceiver.resumed != nil }

    /// The first receiver that listens.
    var listeningReceiver: Receiver? {
        clocks.firstIndex { $0.resumed != nil }.map { Receiver(index: UInt16($0)) }
    }

    package func isListening(_ receiver: Receiver) -> Bool {
        let index = Int(receiver.index)
        return index < clocks.count && clocks[index].resumed != nil
    }

    /// A receiver began or ceased to listen.
    package mutating func set(_ receiver: Receiver, isListening: Bool, at now: MonotonicInstant) {
        let index = makeClock(of: receiver)
        clocks[index].isKnown = true
        if isListening != (clocks[index].resumed != nil) { unchangedSince = anyReceiver.time(at: now) }
        if isListening {
            clocks[index].resumed = clocks[index].resumed ?? now.nanoseconds
            anyReceiver.resumed = anyReceiver.resumed ?? now.nanoseconds
        } else if clocks[index].resumed != nil {
            clocks[index].stop(at: now)
            clocks[index].anyReceiverAtEnd = anyReceiver.time(at: now)
            if !clocks.contains(where: { $0.resumed != nil }) { anyReceiver.stop(at: now) }
        }
    }

    /// The radio of a receiver is on for this share of the time, 0 … 1.
    package mutating func setDuty(_ duty: Float, of receiver: Receiver, at now: MonotonicInstant) {
        let index = makeClock(of: receiver)
        let duty = duty.isNaN ? 1 : min(1, max(0.01, duty))
        guard clocks[index].duty != duty else { return }
        clocks[index].duty = duty
        clocks[index].dutySince = clocks[index].time(at: now)
        unchangedSince = anyReceiver.time(at: now)
        leastDuty = clocks.reduce(1) { min($0, $1.duty) }
    }

    /// Nanoseconds for which any receiver has listened until `now`.
    @inline(__always)
    func timeOfAny(at now: MonotonicInstant) -> Int64 { anyReceiver.time(at: now) }

    /// Lets restored silences of several receivers count from before the restart.
    mutating func restoreJointSilence() { unchangedSince = .min / 2 }

    /// Whether a receiver listened lately was not certain, and it turns out that it did not: time that it has listened beyond
    /// this many nanoseconds does not count.
    mutating func forget(after listened: Int64, of receiver: Receiver, at now: MonotonicInstant) {
        let index = Int(receiver.index)
        guard index < clocks.count, clocks[index].time(at: now) > listened else { return }
        clocks[index].elapsed = listened
        if clocks[index].resumed != nil { clocks[index].resumed = now.nanoseconds }
    }

    /// The machine was suspended for this long, up to now: no receiver listened.
    package mutating func sleep(_ duration: Duration) {
        let slept = max(0, duration.nanoseconds)
        for index in clocks.indices {
            if let resumed = clocks[index].resumed { clocks[index].resumed = resumed &+ slept }
        }
        if let resumed = anyReceiver.resumed { anyReceiver.resumed = resumed &+ slept }
    }

    /// A sighting proves that a receiver that has not reported yet listens.
    ///
    /// - Returns: Nanoseconds that the receiver has listened, the share of the time in which its radio is on, and
    ///   whether the sighting was the first proof that it listens.
    @inline(__always)
    mutating func hear(
        by receiver: Receiver, at now: MonotonicInstant
    ) -> (listened: Int64, duty: Float, hasBegun: Bool) {
        let index = Int(receiver.index)
        let hasBegun = index >= clocks.count || clocks[index].resumed == nil && !clocks[index].isKnown
        if hasBegun { set(receiver, isListening: true, at: now) }
        return (clocks[index].time(at: now), clocks[index].duty, hasBegun)
    }

    /// Nanoseconds that the receiver has listened until `now`.
    package func time(of receiver: Receiver, at now: MonotonicInstant) -> Int64 {
        let index = Int(receiver.index)
        return index < clocks.count ? clocks[index].time(at: now) : 0
    }

    /// When the receiver will have listened for `listened` nanoseconds in all, in nanoseconds of the monotonic clock;
    /// `.max`: never, unless something changes.
    ///
    /// The clock of a receiver that does not listen stops. After others have listened for `PresenceTiming.absentGrace`
    /// (`orphanGrace` if the receiver has not reported since a restart), their listening counts for it: the adapter may
    /// have been removed, or may have come back under another number.
    package func instant(at listened: Int64, of receiver: Receiver, now: MonotonicInstant) -> Int64 {
        let index = Int(receiver.index)
        let clock = index < clocks.count ? clocks[index] : ReceiverClock()
        let left = listened &- clock.time(at: now)
        if clock.resumed != nil || clock.isKnown && left <= 0 { return now.nanoseconds &+ left }
        guard isListening else { return .max }
        return now.nanoseconds &+ left &+ grace(clock) &- missed(clock, at: now)
    }

    /// Nanoseconds for which others must listen before their listening counts for the receiver; 0 if it listens.
    func grace(of receiver: Receiver) -> Int64 {
        let index = Int(receiver.index)
        return grace(index < clocks.count ? clocks[index] : ReceiverClock())
    }

    private func grace(_ clock: ReceiverClock) -> Int64 {
        guard clock.resumed == nil else { return 0 }
        return (clock.isKnown ? PresenceTiming.absentGrace : PresenceTiming.orphanGrace).nanoseconds
    }

    /// Nanoseconds that others have listened since the receiver ceased to listen or, if it has not reported since a
    /// restart, since the restart.
    private func missed(_ clock: ReceiverClock, at now: MonotonicInstant) -> Int64 {
        anyReceiver.time(at: now) - (clock.isKnown ? clock.anyReceiverAtEnd : 0)
    }

    /// The receivers that are known and do not listen, and how long others have listened since they ceased to listen.
    package func absences(at now: MonotonicInstant) -> [(receiver: Receiver, missed: Int64)] {
        clocks.enumerated().compactMap { index, clock in
            guard clock.isKnown, clock.resumed == nil, missed(clock, at: now) > 0 else { return nil }
            return (Receiver(index: UInt16(clamping: index)), missed(clock, at: now))
        }
    }

    /// Continues an absence from before a restart, if the receiver does not listen.
    package mutating func resume(absenceOf receiver: Receiver, missed: Int64, at now: MonotonicInstant) {
        let index = makeClock(of: receiver)
        if clocks[index].resumed == nil { clocks[index].anyReceiverAtEnd = anyReceiver.time(at: now) - missed }
    }

    /// The share of the time in which the receiver's radio is on.
    package func duty(of receiver: Receiver) -> Float {
        let index = Int(receiver.index)
        return index < clocks.count ? clocks[index].duty : 1
    }

    /// The listening time from which silence counts. Before it the scan duty was different.
    package func silenceStart(of receiver: Receiver) -> Int64 {
        let index = Int(receiver.index)
        return index < clocks.count ? clocks[index].dutySince : .min / 2
    }

    private mutating func makeClock(of receiver: Receiver) -> Int {
        let index = Int(receiver.index)
        while clocks.count <= index { clocks.append(ReceiverClock()) }
        return index
    }
}
