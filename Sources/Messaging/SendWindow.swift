/// What is to be sent: messages that wait, and those handed to libmosquitto and unanswered, in the order in
/// which they were given. Pure: it decides, the broker's thread does.
struct SendWindow {
    struct Entry {
        var messageID: Int32
        var message: OutgoingMessage
    }

    private(set) var waiting: [OutgoingMessage] = []
    private(set) var inFlight: [Entry] = []
    private let limit: Int

    /// - Parameter limit: messages in flight at most, at least 1.
    init(limit: Int) { self.limit = max(1, limit) }

    var isEmpty: Bool { waiting.isEmpty && inFlight.isEmpty }

    mutating func add(_ messages: [OutgoingMessage]) { waiting += messages }

    /// The next message to hand over, if there is a place for it.
    mutating func next() -> OutgoingMessage? {
        guard inFlight.count < limit, !waiting.isEmpty else { return nil }
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
        return inFlight.remove(at: index).message
    }

    /// libmosquitto keeps QoS 1 and 2 and sends them again by itself, but forgets QoS 0 that had not left yet:
    /// those wait again, before all that was given later.
    mutating func connectionEnded() {
        waiting.insert(contentsOf: inFlight.filter { $0.message.qos == .atMostOnce }.map(\.message), at: 0)
        inFlight.removeAll { $0.message.qos == .atMostOnce }
    }

    /// libmosquitto's handle is gone and its memory with it: everything waits again, in its order.
    mutating func clientDiscarded() {
        waiting.insert(contentsOf: inFlight.map(\.message), at: 0)
        inFlight = []
    }
}
