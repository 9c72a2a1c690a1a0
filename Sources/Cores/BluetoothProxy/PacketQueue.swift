import Base

/// What waits to be sent to one client, in order. Batches are dropped where they are too many or too old, the oldest first; answers
/// are not.
struct PacketQueue {
    /// The most bytes of all that waits.
    static let mostBytes = 224 << 10
    /// The most answers that wait. A client that asks for more without reading them is at fault.
    static let mostAnswers = 64
    /// Older packets would be taken for new ones.
    static let oldest: Duration = .seconds(5)

    struct Element {
        let message: ProxyMessage
        /// Packets in it; 0 for an answer.
        let packets: Int
        let begin: MonotonicInstant
    }

    private var elements: [Element] = []
    private(set) var bytes = 0
    private var answers = 0

    var isEmpty: Bool { elements.isEmpty }
    /// Whether the client asks for more than it reads.
    var isOverfull: Bool { answers > Self.mostAnswers }

    mutating func add(_ answer: ProxyMessage, at now: MonotonicInstant) {
        answers += 1
        add(Element(message: answer, packets: 0, begin: now))
    }

    mutating func add(_ batch: PacketBatch) {
        add(Element(message: ProxyMessage(type: 93, payload: batch.payload), packets: batch.count, begin: batch.begin))
    }

    private mutating func add(_ element: Element) {
        elements.append(element)
        bytes += element.message.payload.count
    }

    mutating func popFirst() -> Element? {
        guard !elements.isEmpty else { return nil }
        return remove(at: 0)
    }

    /// - Returns: The number of packets that were dropped.
    mutating func dropOld(at now: MonotonicInstant) -> Int {
        var dropped = 0
        while let index = elements.firstIndex(where: { $0.packets > 0 }),
            bytes > Self.mostBytes || elements[index].begin.duration(to: now) > Self.oldest
        {
            dropped += remove(at: index).packets
        }
        return dropped
    }

    /// Forgets all packets: the client no longer wants them.
    mutating func dropPackets() {
        elements.removeAll { $0.packets > 0 }
        bytes = elements.reduce(0) { $0 + $1.message.payload.count }
    }

    private mutating func remove(at index: Int) -> Element {
        let element = elements.remove(at: index)
        bytes -= element.message.payload.count
        if element.packets == 0 { answers -= 1 }
        return element
    }
}
