import Base
import Testing

@testable import Messaging

@Suite struct SendWindowTests {
    private func message(
        _ number: Int64, _ kind: Publication.Kind = .other, qos: QoS = .atLeastOnce
    ) -> QueuedPublication {
        QueuedPublication(
            token: MessageToken(rawValue: number), publication: Publication(kind, topic: "t", payload: [], qos: qos))
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
        for _ in 0..<SendWindow.rejectAfter {
            _ = send(&window)
            verdict = window.connectionEnded(byBroker: true)
        }
        #expect(verdict == .refuse(message(1), .endsConnection(times: SendWindow.rejectAfter)))
        #expect(!window.isIsolating)
        #expect(send(&window) == [2, 3])
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
