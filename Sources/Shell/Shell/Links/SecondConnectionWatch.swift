package import Base
package import Messaging

/// Whether a broker admits only one connection of a service: because it admits one client id alone, or gives both connections the
/// same one, so that each ends the other. Pure.
package struct SecondConnectionWatch {
    /// So often in a row the second connection is not accepted while the first one stands.
    static let mostRefusals = 2
    /// An end so soon after the other connection was accepted is the work of that one.
    static let takeoverTime: Duration = .seconds(2)
    /// So often each connection ends the other.
    static let mostTakeovers = 2
    /// Earlier takeovers are forgotten.
    static let memory: Duration = .seconds(120)

    private struct Side {
        var acceptedAt: MonotonicInstant?
        var isConnected = false
        /// When it ended while the other side was not connected, and no acceptance explains that yet.
        var endedAlone: MonotonicInstant?
        /// When the other side's acceptance ended this one.
        var takeovers: [MonotonicInstant] = []

        mutating func accepted(at now: MonotonicInstant) {
            (isConnected, acceptedAt, endedAlone) = (true, now, nil)
        }

        /// The connection ended.
        mutating func ended(beside other: Side, at now: MonotonicInstant) {
            guard isConnected else { return }
            isConnected = false
            if let accepted = other.acceptedAt, accepted.duration(to: now) <= takeoverTime {
                wasTakenOver(at: now)
            } else if !other.isConnected {
                endedAlone = now
            }
        }

        /// The other side was accepted. A broker ends the former connection before it accepts the new one, and each connection has
        /// a thread of its own, so the end is often reported first. Where a broker restarts, both end, and only the later of them
        /// ends alone.
        mutating func otherWasAccepted(at now: MonotonicInstant) {
            guard let endedAlone, endedAlone.duration(to: now) <= takeoverTime else { return }
            self.endedAlone = nil
            wasTakenOver(at: now)
        }

        private mutating func wasTakenOver(at now: MonotonicInstant) {
            takeovers = takeovers.filter { $0.duration(to: now) < memory } + [now]
        }
    }

    private var first = Side()
    private var second = Side()
    private var refusals = 0

    package init() {}

    /// An event of the first connection.
    ///
    /// - Returns: Why the broker admits one connection only; nil: nothing says so.
    package mutating func handleFirst(_ event: BrokerEvent, at now: MonotonicInstant) -> String? {
        switch event {
        case .connected:
            first.accepted(at: now)
            second.otherWasAccepted(at: now)
            return mutualEnd
        case .disconnected:
            first.ended(beside: second, at: now)
            return mutualEnd
        default: break
        }
        return nil
    }

    /// The same for the second connection.
    package mutating func handleSecond(_ event: BrokerEvent, at now: MonotonicInstant) -> String? {
        switch event {
        case .connected:
            refusals = 0
            second.accepted(at: now)
            first.otherWasAccepted(at: now)
            return mutualEnd
        case .disconnected(let failure, _):
            if second.isConnected {
                second.ended(beside: first, at: now)
                return mutualEnd
            }
            guard first.isConnected, failure.mayBeClientID else {
                refusals = 0
                return nil
            }
            refusals += 1
            if refusals >= Self.mostRefusals { return "\(failure)" }
        default: break
        }
        return nil
    }

    private var mutualEnd: String? {
        guard min(first.takeovers.count, second.takeovers.count) >= Self.mostTakeovers else { return nil }
        return "the broker gives both connections the same client id, so that each ends the other"
    }
}
