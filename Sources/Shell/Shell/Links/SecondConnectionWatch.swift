package import Base
package import Messaging

/// Whether a broker admits only one connection of a service: because it admits one client id alone, or gives both connections the
/// same one, so that each ends the other. Pure.
package struct SecondConnectionWatch {
    /// So often in a row the second connection is not accepted while the first one stands.
    static let mostRefusals = 2
    /// An end so soon after the other connection was accepted is the work of that one.
    static let takeoverTime: Duration = .seconds(2)
    /// An end is reported so long before the acceptance that caused it: each connection has a thread of its own.
    static let reportingDelay: Duration = .milliseconds(500)
    /// So often each connection ends the other.
    static let mostTakeovers = 2
    /// Earlier takeovers are forgotten.
    static let memory: Duration = .seconds(120)

    /// Why a connection ended.
    private enum Cause {
        case otherAccepted
        /// The other one was not accepted since this one was. A broker also ends a connection for a message that it does not
        /// allow, and two connections that send one at each start end by turns, too.
        case another
        /// The other one may be accepted in a moment.
        case notKnownYet
    }

    private struct Side {
        var acceptedAt: MonotonicInstant?
        var isConnected = false
        /// When it ended while the other side was not connected, and no acceptance explains that yet.
        var endedAlone: MonotonicInstant?
        /// When the other side's acceptance ended this one.
        var takeovers: [MonotonicInstant] = []

        /// - Returns: The cause of its former end, if that is known only now; nil otherwise.
        mutating func accepted(at now: MonotonicInstant) -> Cause? {
            let cause: Cause? = endedAlone == nil ? nil : .another
            (isConnected, acceptedAt, endedAlone) = (true, now, nil)
            return cause
        }

        /// The connection ended.
        mutating func ended(beside other: Side, at now: MonotonicInstant) -> Cause? {
            guard isConnected, let own = acceptedAt else { return nil }
            isConnected = false
            if let accepted = other.acceptedAt, accepted > own, accepted.duration(to: now) <= takeoverTime {
                wasTakenOver(at: now)
                return .otherAccepted
            }
            guard !other.isConnected else { return .another }
            endedAlone = now
            return .notKnownYet
        }

        /// The other side was accepted. A broker ends the former connection before it accepts the new one, so the end is often
        /// reported first. Where a broker restarts, both end, and only the later of them ends alone.
        mutating func otherWasAccepted(at now: MonotonicInstant) -> Cause? {
            guard let endedAlone else { return nil }
            self.endedAlone = nil
            guard endedAlone.duration(to: now) <= reportingDelay else { return .another }
            wasTakenOver(at: now)
            return .otherAccepted
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
            return mutualEnd(first.accepted(at: now), second.otherWasAccepted(at: now))
        case .disconnected: return mutualEnd(first.ended(beside: second, at: now))
        default: break
        }
        return nil
    }

    /// The same for the second connection.
    package mutating func handleSecond(_ event: BrokerEvent, at now: MonotonicInstant) -> String? {
        switch event {
        case .connected:
            refusals = 0
            return mutualEnd(second.accepted(at: now), first.otherWasAccepted(at: now))
        case .disconnected(let failure, _):
            if second.isConnected { return mutualEnd(second.ended(beside: first, at: now)) }
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

    /// - Parameter causes: Of ends. One that the other connection did not cause speaks against earlier ones: with one client id every
    ///   end has that cause.
    private mutating func mutualEnd(_ causes: Cause?...) -> String? {
        if causes.contains(.another) { (first.takeovers, second.takeovers) = ([], []) }
        guard min(first.takeovers.count, second.takeovers.count) >= Self.mostTakeovers else { return nil }
        return "the broker gives both connections the same client id, so that each ends the other"
    }
}
