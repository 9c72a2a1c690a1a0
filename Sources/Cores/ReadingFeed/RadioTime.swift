import Base
import Beacon

/// The time for which at least one radio listened since the beginning of a second.
///
/// The times of two receivers are not added: the receiver with the larger duty counts.
struct RadioTime: Sendable {
    private struct Radio: Sendable {
        let receiver: Receiver
        var isListening = false
        /// 0 … 1
        var duty = 1.0
    }

    private var radios: [Radio] = []
    private var accounted = MonotonicInstant.zero
    /// Since the last restart.
    private(set) var listened: Duration = .zero

    mutating func set(_ receiver: Receiver, isListening: Bool, at now: MonotonicInstant) {
        advance(to: now, restarting: false)
        radios[place(of: receiver)].isListening = isListening
    }

    mutating func set(_ receiver: Receiver, duty: Double, at now: MonotonicInstant) {
        advance(to: now, restarting: false)
        radios[place(of: receiver)].duty = min(max(duty, 0), 1)
    }

    /// Starts counting at `now`.
    mutating func restart(at now: MonotonicInstant) {
        accounted = now
        listened = .zero
    }

    /// Counts the time up to `now`.
    ///
    /// - Parameter restarting: Whether to set `listened` to zero afterwards.
    mutating func advance(to now: MonotonicInstant, restarting: Bool) {
        if now > accounted {
            let duty = radios.lazy.filter(\.isListening).map(\.duty).max() ?? 0
            listened += accounted.duration(to: now) * duty
            accounted = now
        }
        if restarting { listened = .zero }
    }

    private mutating func place(of receiver: Receiver) -> Int {
        if let index = radios.firstIndex(where: { $0.receiver == receiver }) { return index }
        radios.append(Radio(receiver: receiver))
        return radios.count - 1
    }
}
