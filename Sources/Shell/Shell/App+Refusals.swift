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
        case .refused, .steppedAside, .acknowledged:
            guard let connection, connection.endpoint != nil else { return }
            recordPost(event, on: connection.name, at: now)
        default: break
        }
    }

    /// Records what an HTTP server answers to a message. A broker's refusals have events of their own, which name the topic.
    private func recordPost(_ event: BrokerEvent, on connection: String, at now: MonotonicInstant) {
        switch event {
        case .refused(let token, let refusal):
            guard let kind = refusal.kind, let topic = watch.broker.topic(of: token) else { return }
            record(Refused(kind, topic, on: connection, because: refusal.reason), at: now)
        case .steppedAside(_, let topic, let reason):
            // The state of the connection and a line of the log name it already.
            record(Refused(.post, topic, on: connection, because: reason), isMissed: false, at: now)
        case .acknowledged(let token):
            guard let topic = watch.broker.topic(of: token) else { return }
            admit(Refused(.post, topic, on: connection, because: ""))
        default: break
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
