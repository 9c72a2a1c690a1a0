import Base
import Testing

@testable import Messaging

@Suite struct SendWindowTests {
    private func message(
        _ number: Int64, _ kind: Publication.Kind = .other, to topic: String = "t", qos: QoS = .atLeastOnce
    ) -> QueuedPublication {
        QueuedPublication(
            token: MessageToken(rawValue: number), publication: Publication(kind, topic: topic, payload: [], qos: qos))
    }

    private func tokens(_ messages: [QueuedPublication]) -> [Int64] { messages.map(\.token.rawValue) }

    /// Hands over all that there is a place for; a message's packet identifier is its token.
    private func send(_ window: inout SendWindow) -> [Int64] {
        var sent: [Int64] = []
        while let message = window.next(at: .zero) {
            window.handedOver(message, messageID: Int32(message.token.rawValue))
            sent.append(message.token.rawValue)
        }
        return sent
    }

    @Test func `Messages go in the order given, as many as the limit allows`() {
        var window = SendWindow(limit: 3)
        window.add((1...5).map { message($0) })
        #expect(send(&window) == [1, 2, 3])
        #expect(window.answered(messageID: 2)?.token.rawValue == 2)
        #expect(send(&window) == [4])
    }

    @Test func `An answer to nothing of ours is no answer`() {
        var window = SendWindow(limit: 3)
        window.add([message(1)])
        _ = send(&window)
        #expect(window.answered(messageID: 9) == nil)
        #expect(window.inFlight.count == 1)
    }

    @Test func `After a lost connection, what may be sent again stays in flight and QoS 0 waits first`() {
        var window = SendWindow(limit: 4)
        window.add([message(1), message(2, qos: .atMostOnce), message(3, qos: .exactlyOnce), message(4), message(5)])
        _ = send(&window)
        #expect(window.connectionEnded(byBroker: false) == .goOn)
        #expect(window.inFlight.map(\.message.token.rawValue) == [1, 3, 4])
        #expect(tokens(window.waiting) == [2, 5])
    }

    @Test func `What is transient does not wait for the next connection`() {
        var window = SendWindow(limit: 2)
        let transient = message(2, .transient, qos: .atMostOnce)
        window.add([message(1), transient, transient, message(3)])
        _ = send(&window)
        _ = window.connectionEnded(byBroker: false)
        #expect(tokens(window.removeTransient()) == [2, 2])
        #expect(tokens(window.waiting) == [3])
    }

    @Test func `A network that breaks again and again accuses no message`() {
        var window = SendWindow(limit: 4)
        window.add([message(1)])
        _ = send(&window)
        for _ in 0..<100 { #expect(window.connectionEnded(byBroker: false) == .goOn) }
        #expect(!window.isIsolating)
    }

    @Test func `A broker that closes twice without an answer is given one message at a time`() {
        var window = SendWindow(limit: 4)
        window.add((1...3).map { message($0) })
        _ = send(&window)
        #expect(window.connectionEnded(byBroker: true) == .goOn)
        #expect(window.connectionEnded(byBroker: true) == .discardClient)
        #expect(window.isIsolating)
        #expect(tokens(window.waiting) == [1, 2, 3])
        #expect(send(&window) == [1])
    }

    @Test func `The message at which the broker closes every time is refused, and the others go on`() {
        var window = SendWindow(limit: 4)
        window.add((1...3).map { message($0) })
        var verdict = SendWindow.Verdict.goOn
        for _ in 0..<SuspectedMessages.endsWithoutContrast {
            _ = send(&window)
            verdict = window.connectionEnded(byBroker: true)
        }
        #expect(verdict == .refuse(message(1), .endsConnection(times: SuspectedMessages.endsWithoutContrast)))
        #expect(send(&window) == [2])
        _ = window.answered(messageID: 2)
        #expect(!window.isIsolating)
        #expect(send(&window) == [3])
    }

    /// Ends connections until the window suspects what it sends first, and nothing is in flight.
    private func suspectFirst(_ window: inout SendWindow) {
        for _ in 0...SendWindow.isolateAfter {
            _ = send(&window)
            _ = window.connectionEnded(byBroker: true)
        }
    }

    @Test func `Messages of other topics do not wait for a suspected one, and those of its topic do`() {
        var window = SendWindow(limit: 4)
        window.add([message(1, to: "bad"), message(2, to: "bad"), message(3), message(4)])
        suspectFirst(&window)
        window.add([message(5, to: "bad"), message(6)])
        var order: [Int64] = []
        for _ in 0..<3 {
            let sent = send(&window)
            #expect(sent.count == 1)
            order += sent
            _ = window.answered(messageID: Int32(sent.first ?? 0))
        }
        #expect(order == [3, 4, 6])
        #expect(send(&window) == [1])
        _ = window.answered(messageID: 1)
        #expect(!window.isIsolating)
        #expect(send(&window) == [2, 5], "the broker took it in the end")
    }

    @Test func `A suspected message is refused sooner if the broker takes another one between`() {
        var window = SendWindow(limit: 4)
        window.add([message(1, to: "bad"), message(2)])
        suspectFirst(&window)
        #expect(send(&window) == [2])
        _ = window.answered(messageID: 2)
        #expect(send(&window) == [1])
        let verdict = window.connectionEnded(byBroker: true)
        #expect(verdict == .refuse(message(1, to: "bad"), .endsConnection(times: SuspectedMessages.endsWithContrast)))
        #expect(window.isEmpty)
    }

    /// A window that has refused a message of the topic "bad", while others were taken.
    private func windowWithProof() -> SendWindow {
        var window = SendWindow(limit: 4)
        window.add([message(1, to: "bad"), message(2)])
        suspectFirst(&window)
        _ = send(&window)
        _ = window.answered(messageID: 2)
        _ = send(&window)
        _ = window.connectionEnded(byBroker: true)
        return window
    }

    @Test func `The next message of a topic that was refused costs one connection, after the others`() {
        var window = windowWithProof()
        window.add([message(3, to: "bad"), message(4)])
        #expect(send(&window) == [4])
        _ = window.answered(messageID: 4)
        #expect(send(&window) == [3])
        #expect(window.connectionEnded(byBroker: true) == .refuse(message(3, to: "bad"), .endsConnection(times: 1)))
        #expect("\(Refusal.endsConnection(times: 1))" == "the broker closed the connection when it was sent")
        #expect("\(Refusal.endsConnection(times: 2))" == "the broker closed the connection 2 times when it was sent")
    }

    @Test func `If nothing else is taken, a topic that was refused before proves nothing`() {
        var window = windowWithProof()
        window.add([message(3, to: "bad")])
        for _ in 1..<SuspectedMessages.endsWithoutContrast {
            #expect(send(&window) == [3])
            #expect(window.connectionEnded(byBroker: true) == .discardClient)
        }
        _ = send(&window)
        #expect(window.connectionEnded(byBroker: true) != .discardClient)
    }

    @Test func `A message that is taken clears its topic`() {
        var window = windowWithProof()
        window.add([message(3, to: "bad")])
        #expect(send(&window) == [3])
        _ = window.answered(messageID: 3)
        window.add([message(4, to: "bad"), message(5)])
        #expect(send(&window) == [4, 5], "the right was granted")
    }

    @Test func `In an outage every message is tried as often as the first one`() {
        var window = SendWindow(limit: 4)
        window.add([message(1, to: "a"), message(2, to: "b"), message(3, to: "c")])
        var ends = 0
        var verdict = SendWindow.Verdict.goOn
        while ends < 100 {
            _ = send(&window)
            verdict = window.connectionEnded(byBroker: true)
            ends += 1
            if case .refuse = verdict { break }
        }
        #expect(ends == 3 * (SuspectedMessages.endsWithoutContrast - SendWindow.isolateAfter))
    }

    @Test func `A suspected message that is transient expires with the connection`() {
        var window = SendWindow(limit: 4)
        window.add([message(1, .transient, to: "bad"), message(2)])
        suspectFirst(&window)
        #expect(tokens(window.removeTransient()) == [1])
        #expect(send(&window) == [2])
    }

    @Test func `A suspected message that the library did not take is tried again`() {
        var window = SendWindow(limit: 4)
        window.add([message(1, to: "bad")])
        suspectFirst(&window)
        guard let again = window.next(at: .zero) else { return #expect(Bool(false), "it is due") }
        #expect(window.next(at: .zero) == nil)
        window.giveBack(again)
        #expect(window.next(at: .zero) == again)
    }

    @Test func `An answer ends the isolation`() {
        var window = SendWindow(limit: 4)
        window.add((1...3).map { message($0) })
        for _ in 0..<SendWindow.isolateAfter {
            _ = send(&window)
            _ = window.connectionEnded(byBroker: true)
        }
        #expect(send(&window) == [1])
        _ = window.answered(messageID: 1)
        #expect(!window.isIsolating)
        #expect(send(&window) == [2, 3])
    }

    @Test func `A broker that closes while nothing is in flight accuses nothing`() {
        var window = SendWindow(limit: 4)
        for _ in 0..<10 { #expect(window.connectionEnded(byBroker: true) == .goOn) }
        #expect(!window.isIsolating)
    }
}
