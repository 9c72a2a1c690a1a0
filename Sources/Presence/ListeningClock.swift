package import Beacon

/// Counts, for each receiver, the time in which it listened: absence means nothing while nobody hears.
package struct ListeningClock: Hashable, Sendable {
    /// The clock of one receiver.
    private struct Hand: Hashable {
        /// Nanoseconds listened before `resumed`.
        var elapsed: Int64 = 0
        /// Nanoseconds of the monotonic clock; nil: not listening.
        var resumed: Int64?
        /// Whether anybody ever said that this receiver listens, or does not.
        var isKnown = false
        /// Share of the time in which the radio is on while it listens, 0.01 … 1.
        var duty: Float = 1
        /// Listening time at which the duty last changed; before everything, if it never did.
        var dutySince = Int64.min / 2

        func time(at now: MonotonicInstant) -> Int64 {
            guard let resumed else { return elapsed }
            return elapsed + max(0, now.nanoseconds - resumed)
        }
    }

    /// By index of the receiver; those that never spoke are absent.
    private var hands: [Hand] = []

    package init() {}

    /// Whether any receiver listens.
    package var isListening: Bool { hands.contains { $0.resumed != nil } }

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
        } else {
            hands[index].elapsed = hands[index].time(at: now)
            hands[index].resumed = nil
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
    }

    /// A sighting proves that a receiver listens of which nobody said anything yet.
    package mutating func noteSighting(by receiver: Receiver, at now: MonotonicInstant) {
        let index = Int(receiver.index)
        if index < hands.count, hands[index].resumed != nil || hands[index].isKnown { return }
        set(receiver, isListening: true, at: now)
    }

    /// Nanoseconds that the receiver has listened until `now`.
    package func time(of receiver: Receiver, at now: MonotonicInstant) -> Int64 {
        let index = Int(receiver.index)
        return index < hands.count ? hands[index].time(at: now) : 0
    }

    /// Whether anybody ever said that this receiver listens, or does not. One that was kept from an earlier run
    /// and is not known yet may be an adapter that was taken away.
    package func isKnown(_ receiver: Receiver) -> Bool {
        let index = Int(receiver.index)
        return index < hands.count && hands[index].isKnown
    }

    /// Nanoseconds that the receiver has listened until `now`; for one that is not known, what the most patient
    /// of the others has listened, less the time that it is given to appear. May be negative.
    package func timeOrOthers(of receiver: Receiver, at now: MonotonicInstant) -> Int64 {
        guard !isKnown(receiver) else { return time(of: receiver, at: now) }
        let longest = hands.map { $0.time(at: now) }.max() ?? 0
        return longest - PresenceTiming.orphanGrace.nanoseconds
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
