/// What is to be sent: messages that wait, and those handed to libmosquitto and unanswered, in the order in
/// which they were given. Pure: it decides, the broker's thread does.
///
/// It also finds the message that a broker will not have and cannot say so. Before MQTT 5 a broker can only
/// close the connection at one that is too large or not allowed; sent again on each connection, it would
/// hold up all that follow for ever.
struct SendWindow {
    struct Entry {
        var messageID: Int32
        var message: OutgoingMessage
    }

    /// What to do about a connection that ended.
    enum Verdict: Hashable {
        case goOn
        /// libmosquitto must forget what it holds, so that messages can be tried one by one.
        case discardClient
        /// This one ended the connection again and again, alone; the client is to be discarded as well.
        case refuse(OutgoingMessage, Refusal)
    }

    /// Connections in a row that the broker ended with something in flight and nothing answered, until
    /// messages are sent one by one. A broker that restarts does that once.
    static let suspicion = 2
    /// Until the message that was alone in flight is refused. With the growing delays between attempts, the
    /// broker has had about a minute to get well by then.
    static let conviction = 6

    private(set) var waiting: [OutgoingMessage] = []
    private(set) var inFlight: [Entry] = []
    private var strikes = 0
    private let limit: Int

    /// - Parameter limit: messages in flight at most, at least 1.
    init(limit: Int) { self.limit = max(1, limit) }

    var isEmpty: Bool { waiting.isEmpty && inFlight.isEmpty }

    /// One message at a time, and only on a connection that has proved to live without it.
    var isSuspicious: Bool { strikes >= Self.suspicion }

    mutating func add(_ messages: [OutgoingMessage]) { waiting += messages }

    /// The next message to hand over, if there is a place for it.
    mutating func next() -> OutgoingMessage? {
        guard inFlight.count < (isSuspicious ? 1 : limit), !waiting.isEmpty else { return nil }
        return waiting.removeFirst()
    }

    mutating func handedOver(_ message: OutgoingMessage, messageID: Int32) {
        inFlight.append(Entry(messageID: messageID, message: message))
    }

    /// libmosquitto would not have it now; it stays the next one.
    mutating func giveBack(_ message: OutgoingMessage) { waiting.insert(message, at: 0) }

    /// The message that was answered; nil for an identifier that is none of ours.
    mutating func answered(messageID: Int32) -> OutgoingMessage? {
        guard let index = inFlight.firstIndex(where: { $0.messageID == messageID }) else { return nil }
        strikes = 0
        return inFlight.remove(at: index).message
    }

    /// libmosquitto keeps QoS 1 and 2 and sends them again by itself, but forgets QoS 0 that had not left yet:
    /// those wait again, before all that was given later.
    /// - Parameter byBroker: it was the broker that closed an accepted connection.
    mutating func connectionEnded(byBroker: Bool) -> Verdict {
        let unsent = inFlight.filter { $0.message.qos == .atMostOnce }.map(\.message)
        waiting.insert(contentsOf: unsent, at: 0)
        inFlight.removeAll { $0.message.qos == .atMostOnce }
        guard byBroker, let suspect = inFlight.first else { return .goOn }
        strikes += 1
        guard isSuspicious else { return .goOn }
        guard strikes >= Self.conviction, inFlight.count == 1 else {
            returnAll()
            return .discardClient
        }
        inFlight = []
        let times = strikes
        strikes = 0
        return .refuse(suspect.message, .endsConnection(times: times))
    }

    /// Everything waits again, in its order.
    mutating func returnAll() {
        waiting.insert(contentsOf: inFlight.map(\.message), at: 0)
        inFlight = []
    }
}
