import Configuration
import Testing

@testable import Messaging

@Suite struct MailboxTests {
    private func mailbox(_ change: (inout BrokerSettings.QueueLimits) -> Void = { _ in }) throws -> Mailbox {
        var limits = BrokerSettings.QueueLimits()
        change(&limits)
        return try Mailbox(limits: limits) {}
    }

    private func outgoing(_ number: Int64) -> OutgoingMessage {
        OutgoingMessage(
            token: MessageToken(rawValue: number), topic: "t", payload: [], qos: .atLeastOnce, retain: false)
    }

    private func received(_ topic: String, bytes: Int = 1) -> BrokerEvent {
        .message(
            ReceivedMessage(
                topic: topic, payload: [UInt8](repeating: 0, count: bytes), qos: .atLeastOnce, retained: false))
    }

    @Test func `A full queue takes nothing more and counts what it refused`() throws {
        let mailbox = try mailbox {
            $0.outgoing = 2
            $0.inFlight = 1
        }
        #expect((1...5).map { mailbox.add(outgoing($0)) } == [true, true, true, false, false])
        #expect(mailbox.counts == .init(unanswered: 3, refused: 2, dropped: 0))
    }

    @Test func `An answer that was taken makes room for another message`() throws {
        let mailbox = try mailbox {
            $0.outgoing = 0
            $0.inFlight = 1
        }
        #expect(mailbox.add(outgoing(1)))
        mailbox.post([.acknowledged(MessageToken(rawValue: 1))])
        #expect(!mailbox.add(outgoing(2)))
        #expect(mailbox.drainEvents() == [.acknowledged(MessageToken(rawValue: 1))])
        #expect(mailbox.add(outgoing(2)))
    }

    @Test func `Of too many received messages the oldest go, and the count is kept`() throws {
        let mailbox = try mailbox { $0.incoming = 2 }
        mailbox.post([received("1"), .connected(sessionPresent: false), received("2"), received("3"), received("4")])
        #expect(mailbox.drainEvents() == [.connected(sessionPresent: false), received("3"), received("4")])
        #expect(mailbox.counts.dropped == 2)
    }

    @Test func `Of too many received bytes the oldest go`() throws {
        let mailbox = try mailbox { $0.incomingBytes = 10 }
        mailbox.post([received("1", bytes: 6), received("2", bytes: 6)])
        #expect(mailbox.drainEvents() == [received("2", bytes: 6)])
        mailbox.post([received("3", bytes: 10)])
        #expect(mailbox.drainEvents() == [received("3", bytes: 10)])
    }

    @Test func `Orders are handed over once, the one to stop every time`() throws {
        let mailbox = try mailbox()
        _ = mailbox.add(outgoing(1))
        mailbox.order {
            $0.subscriptions = ["a"]
            $0.stopBy = .now
        }
        let first = mailbox.drainOrders()
        #expect(first.outgoing.count == 1)
        #expect(first.subscriptions == ["a"])
        #expect(first.stopBy != nil)
        let second = mailbox.drainOrders()
        #expect(second.outgoing.isEmpty)
        #expect(second.subscriptions == nil)
        #expect(second.stopBy != nil)
    }

    @Test func `Secrets show nowhere in settings`() {
        var settings = BrokerSettings(hosts: ["h"], port: 1883, clientID: "c")
        settings.password = .init("hunter2")
        #expect(!"\(settings)".contains("hunter2"))
        #expect(!String(reflecting: settings).contains("hunter2"))
    }
}
