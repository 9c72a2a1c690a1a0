package import Base

/// A message from the broker. Its bytes come from outside and are not trusted.
package struct ReceivedMessage: Hashable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    package var qos: QoS
    /// It was kept by the broker and is not news.
    package var retained: Bool
    /// The message is the answer to a post over HTTP; `topic` is the command topic of the sender. It may contain other
    /// messages than commands.
    package var isAnswer: Bool
    /// The topic belongs to `BrokerSettings.transientFilters`: the message is useless later.
    package var isTransient = false

    package init(topic: String, payload: [UInt8], qos: QoS, retained: Bool, isAnswer: Bool = false) {
        self.isAnswer = isAnswer
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retained = retained
    }
}
