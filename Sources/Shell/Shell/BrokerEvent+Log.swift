import Base
import Configuration
import Messaging
import Runtime

extension BrokerEvent {
    /// Logs what a person should know of an event. Refusals are logged from their record, which knows what is new.
    ///
    /// - Parameter name: Of the broker or server, as `BrokerWatch` knows it.
    func write(to log: Log, of broker: Broker, named name: @autoclosure () -> String) {
        switch self {
        case .connected: log.notice("connected to \(name())")
        case .disconnected(let failure, let retryIn):
            // A broker that ends the connection and then refuses the login says two things, and the second one is the cause.
            let more = "; next try in \(decimal(retryIn)) s"
            log.each("broker", .warning, "no \(broker.receiver): \(failure)", more: more)
        case .moved(let host): log.notice("the next try is at \(broker.hostAndPort(of: host))")
        case .postponed(_, let code):
            let reason = BrokerFailure.reason(code: code)
            log.each("postponed", .warning, "the broker refuses messages for now: \(reason); they are sent again")
        case .refused(let token, let refusal):
            // The record of refusals names the topic.
            if token.isStored { log.each("refused", .warning, "a message is set aside: \(refusal)") }
        case .steppedAside(_, let topic, let reason):
            let text = "the message on \(topic) is not accepted: \(reason); it is kept and tried again once an hour"
            log.write(.warning, "\(text); later messages are accepted")
        case .answered(let content):
            log.once("answer", .notice, "the server's answer contains \(content); only commands are obeyed")
        case .dropped(let message): message.write(to: log)
        case .message, .decoded, .acknowledged, .wantsMessage: break
        case .subscribed, .subscriptionRefused, .refusal, .admitted, .limited: break
        }
    }
}

extension DroppedMessage {
    fileprivate func write(to log: Log) {
        switch self {
        case .tooLarge(let topic, let size):
            log.once("oversize", .error, "a message of \(size) bytes on \(topic) is too large and was dropped")
        case .sessionDiscarded(let failure):
            log.once(
                "session", .error,
                "\(failure); it is told to forget the session, and with it all commands that wait for us")
        case .subscriptionsWithheld(let time):
            log.once(
                "oversize retained", .error,
                "the broker retains a message on /cmd that is too large; no commands are heard for \(decimal(time)) s")
        }
    }
}
