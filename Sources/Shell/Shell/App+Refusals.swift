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
        let isAlone = watch.isAlone(refused, isConnected: links.broker.isConnected)
        let consequence = isMissed && isAlone ? owner?.consequence(of: refused) : nil
        switch watch.refusals.add(refused, consequence: consequence, at: now) {
        case .named:
            let lack = consequence.map { $0.text.isEmpty ? "" : "; \($0.text)" } ?? ""
            // The state of the first connection has a line of its own.
            if !refused.isOfMain { log.write(.warning, refused.sentence + lack) }
            changed()
        case .counted where consequence != nil && !refused.isOfMain:
            log.once("refusals", .warning, refused.sentence(times: watch.refusals.count(of: refused)))
        case .counted: log.debug(refused.sentence)
        }
    }

    /// A connection is opened with new settings.
    package func forgetRefusals(on connection: String) { watch.refusals.forget(connection) }

    private func admit(_ admitted: Refused) {
        guard watch.refusals.admit(admitted) else { return }
        if let sentence = admitted.admission { log.notice(sentence) }
        changed()
    }
}
