package import Base
import Health
package import Messaging
import Runtime

/// The record of refusals: the events of every connection of the service pass here.
extension App {
    /// Records what an event refuses or admits, and logs what is new.
    ///
    /// - Parameter connection: The settings of the connection that it comes from; nil: there was none.
    package func recordRefusals(in event: BrokerEvent, of connection: BrokerSettings?, at now: MonotonicInstant) {
        switch event {
        case .refusal(let refused): record(refused, at: now)
        case .admitted(let admitted): admit(admitted)
        case .connected:
            guard let connection else { return }
            admit(Refused(.connection, connection.clientID, on: connection.name, because: ""))
        case .limited(let limits) where !limits.retains:
            guard let connection else { return }
            let reason = "it says so when it accepts a connection"
            record(Refused(.retain, connection.clientID, on: connection.name, because: reason), at: now)
        case .disconnected(let failure, _):
            guard let connection else { return }
            // The next connection says it again, if it is so.
            watch.refusals.forget(.retain, of: connection.name)
            record(failure.refused(clientID: connection.clientID, on: connection.name), at: now)
        default: break
        }
    }

    /// Records a refusal.
    package func record(_ refused: Refused, at now: MonotonicInstant) {
        let consequence = isAlone(refused) ? owner?.consequence(of: refused) : nil
        switch watch.refusals.add(refused, consequence: consequence, at: now) {
        case .named:
            let lack = consequence.map { $0.isEmpty ? "" : "; \($0)" } ?? ""
            // The state of the first connection has a line of its own.
            if !isMain(refused) { log.write(.warning, refused.sentence + lack) }
            changed()
        case .counted where consequence != nil && !isMain(refused):
            log.once("refusals", .warning, "\(refused.sentence), again")
        case .counted: log.debug(refused.sentence)
        }
    }

    /// A connection is opened with new settings.
    package func forgetRefusals(on connection: String) { watch.refusals.forget(connection) }

    private func admit(_ admitted: Refused) {
        guard watch.refusals.admit(admitted) else { return }
        if admitted.kind == .message { log.notice("the broker takes messages to \(admitted.object) now") }
        if admitted.kind == .subscription { log.notice("the broker grants the subscription to \(admitted.object) now") }
        changed()
    }

    private func isMain(_ refused: Refused) -> Bool {
        refused.connection == BrokerSettings.main && (refused.kind == .connection || refused.kind == .clientID)
    }

    /// Whether something else than a broker that is away may be the reason: a second connection fails while the first one stands,
    /// and not for the first time, because a broker that ends all connections ends them one after the other.
    private func isAlone(_ refused: Refused) -> Bool {
        guard refused.kind == .connection, !isMain(refused) else { return true }
        return links.broker.isConnected && watch.refusals.isRefused(refused)
    }
}
