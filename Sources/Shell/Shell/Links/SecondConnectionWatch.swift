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
        /// When the other side's acceptance ended this one.
        var takeovers: [MonotonicInstant] = []

        /// The connection ended.
        mutating func ended(afterAcceptanceAt other: MonotonicInstant?, at now: MonotonicInstant) {
            defer { isConnected = false }
            guard isConnected, let other, other.duration(to: now) <= takeoverTime else { return }
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
        case .connected: (first.isConnected, first.acceptedAt) = (true, now)
        case .disconnected:
            first.ended(afterAcceptanceAt: second.acceptedAt, at: now)
            return mutualEnd
        default: break
        }
        return nil
    }

    /// The same for the second connection.
    package mutating func handleSecond(_ event: BrokerEvent, at now: MonotonicInstant) -> String? {
        switch event {
        case .connected:
            (second.isConnected, second.acceptedAt, refusals) = (true, now, 0)
        case .disconnected(let failure, _):
            if second.isConnected {
                second.ended(afterAcceptanceAt: first.acceptedAt, at: now)
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
