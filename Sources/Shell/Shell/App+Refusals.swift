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
        for change in RefusalChange.changes(by: event, of: connection, topic: watch.broker.topic) {
            switch change {
            case .refused(let refused, let isMissed): record(refused, isMissed: isMissed, at: now)
            case .admitted(let admitted): admit(admitted)
            case .forgotten(let kind, let connection): watch.refusals.forget(kind, of: connection)
            }
        }
    }

    /// Records a refusal.
    ///
    /// - Parameter isMissed: Otherwise what is missing is said elsewhere, and it becomes no finding.
    package func record(_ refused: Refused, isMissed: Bool = true, at now: MonotonicInstant) {
        let consequence = isMissed && isAlone(refused) ? owner?.consequence(of: refused) : nil
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
        if admitted.kind == .post { log.notice("the server accepts messages on \(admitted.object) now") }
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
