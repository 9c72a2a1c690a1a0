package import Beacon

/// Counts time only while at least one receiver listens: absence means nothing while nobody hears.
package struct ListeningClock: Sendable {
    private var listening: Set<UInt8> = []
    private var elapsed: Duration = .zero
    private var resumed: MonotonicInstant?

    package init() {}

    package var isListening: Bool { resumed != nil }

    /// A receiver began or ceased to listen.
    package mutating func set(_ receiver: Receiver, isListening: Bool, at now: MonotonicInstant) {
        if isListening {
            listening.insert(receiver.index)
            resumed = resumed ?? now
        } else {
            listening.remove(receiver.index)
            guard listening.isEmpty, let start = resumed else { return }
            elapsed += start.duration(to: now)
            resumed = nil
        }
    }

    /// The time listened until `now`.
    package func time(at now: MonotonicInstant) -> Duration {
        guard let resumed else { return elapsed }
        return elapsed + resumed.duration(to: now)
    }
}
