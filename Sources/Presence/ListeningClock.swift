package import Base
package import Beacon

/// Counts, for each receiver, the time in which it listened: absence means nothing while nobody hears.
package struct ListeningClock: Hashable, Sendable {
    /// The clock of one receiver.
    private struct Hand: Hashable {
        /// Nanoseconds listened before `resumed`.
        var elapsed: Int64 = 0
        /// Nanoseconds of the monotonic clock; nil: not listening.
        var resumed: Int64?
        /// Whether anybody ever said that this receiver listens, or does not. One that was kept from an earlier run and
        /// is not known yet may be an adapter that was taken away.
        var isKnown = false
        /// What the house had listened when this receiver last ceased to.
        var houseAtEnd: Int64 = 0
        /// Share of the time in which the radio is on while it listens, 0.01 … 1.
        var duty: Float = 1
        /// Listening time at which the duty last changed; before everything, if it never did.
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

    /// By index of the receiver; those that never spoke are absent.
    private var hands: [Hand] = []
    /// Runs while any receiver listens.
    private var house = Hand()

    package init() {}

    /// Whether any receiver listens.
    package var isListening: Bool { house.resumed != nil }

    package func isListening(_ receiver: Receiver) -> Bool {
        let index = Int(receiver.index)
        return index < hands.count && hands[index].resumed != nil
    }

    /// A receiver began or ceased to listen.
    package mutating func set(_ receiver: Receiver, isListening: Bool, at now: MonotonicInstant) {
        let index = makeHand(of: receiver)
        hands[index].isKnown = true
        if isListening {
            hands[index].resumed = hands[index].resumed ?? now.nanoseconds
            house.resumed = house.resumed ?? now.nanoseconds
        } else if hands[index].resumed != nil {
            hands[index].stop(at: now)
            hands[index].houseAtEnd = house.time(at: now)
            if !hands.contains(where: { $0.resumed != nil }) { house.stop(at: now) }
        }
    }

    /// The radio of a receiver is on for this share of the time, 0 … 1.
    package mutating func setDuty(_ duty: Float, of receiver: Receiver, at now: MonotonicInstant) {
        let index = makeHand(of: receiver)
        let duty = duty.isNaN ? 1 : min(1, max(0.01, duty))
        guard hands[index].duty != duty else { return }
        hands[index].duty = duty
        hands[index].dutySince = hands[index].time(at: now)
    }

    /// The machine slept for this long, up to now: nobody listened.
    package mutating func sleep(_ duration: Duration) {
        let slept = max(0, duration.nanoseconds)
        for index in hands.indices {
            if let resumed = hands[index].resumed { hands[index].resumed = resumed &+ slept }
        }
        if let resumed = house.resumed { house.resumed = resumed &+ slept }
    }

    /// A sighting: proves that a receiver listens of which nobody said anything yet.
    ///
    /// - Returns: nanoseconds that the receiver has listened, the share of the time in which its radio is on, and
    ///   whether it was not known to listen.
    @inline(__always)
    mutating func hear(
        by receiver: Receiver, at now: MonotonicInstant
    ) -> (listened: Int64, duty: Float, hasBegun: Bool) {
        let index = Int(receiver.index)
        let hasBegun = index >= hands.count || hands[index].resumed == nil && !hands[index].isKnown
        if hasBegun { set(receiver, isListening: true, at: now) }
        return (hands[index].time(at: now), hands[index].duty, hasBegun)
    }

    /// Nanoseconds that the receiver has listened until `now`.
    package func time(of receiver: Receiver, at now: MonotonicInstant) -> Int64 {
        let index = Int(receiver.index)
        return index < hands.count ? hands[index].time(at: now) : 0
    }

    /// When the receiver will have listened for `listened` nanoseconds in all, in nanoseconds of the monotonic clock;
    /// `.max`: never, as things are.
    ///
    /// One that does not listen is waited for while others do (`PresenceTiming.absentGrace`, and `orphanGrace` for one
    /// that was never heard of since a restart). Then their listening counts for it: it may have been taken away, or have
    /// come back under another number.
    package func instant(at listened: Int64, of receiver: Receiver, now: MonotonicInstant) -> Int64 {
        let index = Int(receiver.index)
        let hand = index < hands.count ? hands[index] : Hand()
        let left = listened &- hand.time(at: now)
        if hand.resumed != nil || hand.isKnown && left <= 0 { return now.nanoseconds &+ left }
        guard isListening else { return .max }
        let grace = hand.isKnown ? PresenceTiming.absentGrace : PresenceTiming.orphanGrace
        return now.nanoseconds &+ left &+ grace.nanoseconds &- missed(hand, at: now)
    }

    /// Nanoseconds that others have listened since the receiver ceased to; of one that was not heard of since a restart,
    /// since then.
    private func missed(_ hand: Hand, at now: MonotonicInstant) -> Int64 {
        house.time(at: now) - (hand.isKnown ? hand.houseAtEnd : 0)
    }

    /// The receivers that are known and do not listen, and how long others have listened since they ceased to.
    package func absences(at now: MonotonicInstant) -> [(receiver: Receiver, missed: Int64)] {
        hands.enumerated().compactMap { index, hand in
            guard hand.isKnown, hand.resumed == nil, missed(hand, at: now) > 0 else { return nil }
            return (Receiver(index: UInt8(clamping: index)), missed(hand, at: now))
        }
    }

    /// Goes on with an absence that was kept, if the receiver still does not listen when it is heard of.
    package mutating func resume(absenceOf receiver: Receiver, missed: Int64, at now: MonotonicInstant) {
        let index = makeHand(of: receiver)
        if hands[index].resumed == nil { hands[index].houseAtEnd = house.time(at: now) - missed }
    }

    /// The share of the time in which its radio is on.
    package func duty(of receiver: Receiver) -> Float {
        let index = Int(receiver.index)
        return index < hands.count ? hands[index].duty : 1
    }

    /// The listening time from which silence counts: before it the radio was on for another share.
    package func silenceStart(of receiver: Receiver) -> Int64 {
        let index = Int(receiver.index)
        return index < hands.count ? hands[index].dutySince : .min / 2
    }

    private mutating func makeHand(of receiver: Receiver) -> Int {
        let index = Int(receiver.index)
        while hands.count <= index { hands.append(Hand()) }
        return index
    }
}
