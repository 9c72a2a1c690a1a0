import Base
import Testing

@testable import Messaging

@Suite struct MailboxTests {
    private func mail(_ change: (inout BrokerSettings.QueueLimits) -> Void = { _ in }) -> BrokerMail {
        var limits = BrokerSettings.QueueLimits()
        change(&limits)
        return BrokerMail(limits: limits)
    }

    private func publish(_ number: Int64) -> BrokerOrder {
        .publish(
            QueuedPublication(
                token: MessageToken(rawValue: number), publication: Publication(.other, topic: "t", payload: [])))
    }

    private func received(_ topic: String, bytes: Int = 1) -> BrokerEvent {
        .message(
            ReceivedMessage(
                topic: topic, payload: [UInt8](repeating: 0, count: bytes), qos: .atLeastOnce, retained: false))
    }

    @Test func `A full queue takes nothing more and counts what it refused`() {
        var mail = mail {
            $0.outgoing = 2
            $0.inFlight = 1
        }
        let accepted = (1...5).map { mail.append(publish($0)) }
        #expect(accepted == [true, true, true, false, false])
        #expect(mail.counts == .init(unanswered: 3, refused: 2, dropped: 0))
    }

    @Test func `Messages without the outbox do not take the places of those of the outbox`() {
        var mail = mail {
            $0.outgoing = 1
            $0.inFlight = 1
            $0.stored = 2
        }
        let accepted = [-1, -2, -3, 1, 2, 3].map { mail.append(publish($0)) }
        #expect(accepted == [true, true, false, true, true, false])
    }

    @Test func `An answer that was taken makes room for another message`() {
        var mail = mail {
            $0.outgoing = 0
            $0.inFlight = 1
        }
        var accepted = [mail.append(publish(1))]
        mail.post([.acknowledged(MessageToken(rawValue: 1))])
        accepted.append(mail.append(publish(2)))
        let events = mail.drainEvents()
        #expect(events == [.acknowledged(MessageToken(rawValue: 1))])
        accepted.append(mail.append(publish(2)))
        #expect(accepted == [true, false, true])
    }

    @Test func `Of too many received messages the oldest go, and the count is kept`() {
        var mail = mail { $0.incoming = 2 }
        mail.post([received("1"), .connected(sessionPresent: false), received("2"), received("3"), received("4")])
        let events = mail.drainEvents()
        #expect(events == [.connected(sessionPresent: false), received("3"), received("4")])
        #expect(mail.counts.dropped == 2)
    }

    @Test func `Room is made for a sixteenth of the limit at once, because each time moves all that wait`() {
        var mail = mail { $0.incoming = 160 }
        mail.post((1...161).map { received("\($0)") })
        #expect(mail.counts.dropped == 11)
        let events = mail.drainEvents()
        #expect(events == (12...161).map { received("\($0)") })
    }

    @Test func `Readings go before cards that came earlier`() {
        var mail = mail { $0.incoming = 3 }
        let readings = ["1", "2", "3"].map { topic in
            var reading = ReceivedMessage(topic: topic, payload: [], qos: .atMostOnce, retained: false)
            reading.isTransient = true
            return BrokerEvent.message(reading)
        }
        mail.post([received("card")] + readings + [received("command")])
        let events = mail.drainEvents()
        #expect(events == [received("card"), readings[2], received("command")])
    }

    @Test func `Of too many received bytes the oldest go`() {
        var mail = mail { $0.incomingBytes = 10 }
        mail.post([received("1", bytes: 6), received("2", bytes: 6)])
        var events = mail.drainEvents()
        #expect(events == [received("2", bytes: 6)])
        mail.post([received("3", bytes: 10)])
        events = mail.drainEvents()
        #expect(events == [received("3", bytes: 10)])
    }

    @Test func `Orders are handed over once, and of topic filters only the latest`() {
        var mail = mail()
        for number: Int64 in 1...2 { _ = mail.append(publish(number)) }
        for filters: Set<String> in [["a"], ["b", "c"]] { _ = mail.append(.subscribe(to: filters)) }
        let orders = mail.drainOrders()
        #expect(orders.messages.map(\.token.rawValue) == [1, 2])
        #expect(orders.subscriptions == ["b", "c"])
        let later = mail.drainOrders()
        #expect(later.messages.isEmpty && later.subscriptions == nil)
    }

    @Test func `Secrets show nowhere in settings`() {
        var settings = BrokerSettings(hosts: ["h"], port: 1883, clientID: "c")
        settings.password = .init("hunter2")
        #expect(!"\(settings)".contains("hunter2"))
        #expect(!String(reflecting: settings).contains("hunter2"))
    }
}
