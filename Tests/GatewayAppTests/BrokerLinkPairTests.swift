import Base
import Messaging
import ServiceSupport
import Shell
import Testing

@testable import GatewayApp

/// Two links over one connection.
@Suite struct BrokerLinkPairTests {
    private final class Pair {
        let first = BrokerDouble()
        let second = BrokerDouble()
        let pair: BrokerLinkPair

        init() throws {
            let counter = Counter()
            pair = BrokerLinkPair(first: first, second: second) { _ in { counter.count += 1 } }
            var settings = BrokerSettings(hosts: ["h"], port: 1883, clientID: "c")
            try pair.first.open(settings, filters: ["cmd"], read: nil) {}
            settings.clientID = "c-availability"
            settings.name = "availability"
            try pair.second.open(settings, filters: ["state/+"], read: nil) {}
            self.counter = counter
        }

        final class Counter { var count = 0 }
        let counter: Counter

        /// The broker admits the first connection alone.
        func refuse() {
            _ = pair.first.drainEvents()
            _ = pair.second.drainEvents()
            // It was accepted before; then it is refused twice.
            for _ in 1...3 { second.send(.disconnected(.notAccepted(code: 2), retryIn: .seconds(1))) }
        }
    }

    private static func message(_ topic: String) -> BrokerEvent {
        .message(ReceivedMessage(topic: topic, payload: [], qos: .atMostOnce, retained: false))
    }

    /// The same events without what a double adds.
    private static func texts(_ events: [BrokerEvent]) -> [String] {
        events.map { event in
            switch event {
            case .connected: "up"
            case .disconnected: "down"
            case .message(let message): message.topic
            case .acknowledged(let token): "\(token.rawValue)"
            case .refusal(let refused): "\(refused.kind.rawValue): \(refused.object) on \(refused.connection)"
            default: "\(event)"
            }
        }
    }

    @Test func `With a broker that admits both, each link has its connection`() throws {
        let pair = try Pair()
        #expect(Self.texts(pair.pair.first.drainEvents()) == ["up"])
        #expect(Self.texts(pair.pair.second.drainEvents()) == ["up"])
        let publication = Publication(.other, topic: "t", payload: [])
        #expect(pair.pair.second.publish(publication, as: MessageToken(rawValue: 7)))
        #expect(pair.second.messages.count == 1 && pair.first.messages.isEmpty)
        #expect(pair.first.filters == ["cmd"] && pair.second.filters == ["state/+"])
    }

    @Test func `With one that admits the first alone, the second link goes over it and says so`() throws {
        let pair = try Pair()
        pair.refuse()
        let told = Self.texts(pair.pair.second.drainEvents())
        #expect(told.suffix(2) == ["up", "client id: c-availability on availability"])
        #expect(pair.first.filters == ["cmd", "state/+"] && pair.pair.second.isConnected)
        let publication = Publication(.other, topic: "t", payload: [])
        #expect(pair.pair.first.publish(publication, as: MessageToken(rawValue: -1)))
        #expect(pair.pair.second.publish(publication, as: MessageToken(rawValue: -1)))
        #expect(pair.first.messages.count == 2)
        #expect(Self.texts(pair.pair.first.drainEvents()) == ["-1"], "each link gets the answer to its message")
        #expect(Self.texts(pair.pair.second.drainEvents()) == ["-1"])
        #expect(pair.counter.count > 0, "the second link's owner is woken")
    }

    @Test func `What the second connection had not answered is told as not sent, so that nobody waits for it`() throws {
        let pair = try Pair()
        let publication = Publication(.other, topic: "t", payload: [])
        #expect(pair.pair.second.publish(publication, as: MessageToken(rawValue: -1)))
        pair.second.isReachable = false
        #expect(Self.texts(pair.pair.second.drainEvents()) == ["up", "-1"])
        for token: Int64 in [-2, -3] {
            #expect(pair.pair.second.publish(publication, as: MessageToken(rawValue: token)))
        }
        pair.refuse()
        let told = pair.pair.second.drainEvents()
        let unsent = told.compactMap { if case .refused(let token, .late) = $0 { token.rawValue } else { nil } }
        #expect(unsent == [-2, -3])
        #expect(
            told.firstIndex(of: .connected(sessionPresent: false)).map { $0 > 1 } == true, "before the next one begins")
        pair.second.acknowledgeAll()
        #expect(Self.texts(pair.pair.second.drainEvents()) == [], "once")
    }

    @Test func `A message goes to the link that subscribed, and the end of the connection to both`() throws {
        let pair = try Pair()
        pair.refuse()
        _ = pair.pair.second.drainEvents()
        for topic in ["cmd", "state/a", "other"] { pair.first.send(Self.message(topic)) }
        pair.first.send(.disconnected(.silent, retryIn: .seconds(1)))
        #expect(Self.texts(pair.pair.first.drainEvents()) == ["cmd", "other", "down"])
        #expect(Self.texts(pair.pair.second.drainEvents()) == ["state/a", "down"])
        pair.pair.second.subscribe(to: ["new"])
        #expect(pair.first.filters == ["cmd", "new"])
    }

    @Test func `A new connection begins with two`() throws {
        let pair = try Pair()
        pair.refuse()
        _ = pair.pair.second.drainEvents()
        let settings = BrokerSettings(hosts: ["h"], port: 1883, clientID: "c")
        try pair.pair.first.open(settings, filters: ["cmd"], read: nil) {}
        #expect(pair.first.filters == ["cmd"])
        let publication = Publication(.other, topic: "t", payload: [])
        #expect(!pair.pair.second.publish(publication, as: MessageToken(rawValue: 1)))
    }
}
