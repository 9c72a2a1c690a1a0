import Base
import Configuration
import Gateway
import Health
import Messaging
import Runtime
import ServiceSupport
import Shell
import TestSupport
import Testing

@testable import GatewayApp

/// The second connection with parts that only note what they are told.
@Suite struct SideConnectionTests {
    private final class Part: SidePart {
        let name: SidePartName
        var filters: Set<String>
        private(set) var notes: [String] = []

        init(_ name: SidePartName, _ filters: Set<String>) { (self.name, self.filters) = (name, filters) }

        func prepare() { notes.append("prepare") }
        func connected(at now: MonotonicInstant) { notes.append("connected") }
        func leaving() { notes.append("leaving") }
        func disconnected(at now: MonotonicInstant) { notes.append("disconnected") }
        func received(_ message: ReceivedMessage, at now: MonotonicInstant) -> Bool {
            guard filters.contains(message.topic) else { return false }
            notes.append(message.topic)
            return true
        }
        func answered(_ token: SideToken?) { notes.append("answered \(token?.number ?? 0)") }
        func refused(_ token: SideToken?) { notes.append("refused \(token?.number ?? 0)") }
    }

    private let link = BrokerDouble()
    private let app: App<Gateway>
    private let side: SideConnection
    private let home = Part(.homeAssistant, ["a", "both"])
    private let feed = Part(.readingFeed, ["b", "both"])
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        let path = try directory.write(#"{_type: "configuration", deviceId: "hall"}"#, to: "config.json")
        let settings = try Settings(readingFrom: path, stateDirectory: directory.path)
        let host = ServiceHostDouble()
        app = App(
            core: Gateway(configuration: settings.configuration, wallClock: host.wallClock, explainsTransitions: false),
            settings: settings,
            links: AppLinks(store: SteppedStore(host: host), broker: BrokerDouble(), status: nil), host: host,
            log: Log(threshold: .error))
        side = SideConnection(link, of: app)
        side.carry([home, feed], for: nil)
    }

    private func handle(_ event: BrokerEvent) {
        link.send(event)
        side.handleEvents()
    }

    private func message(_ topic: String) -> BrokerEvent {
        .message(ReceivedMessage(topic: topic, payload: [], qos: .atMostOnce, retained: false))
    }

    @Test func `What the second connection is refused is in the record, as what the first one is`() throws {
        handle(.refusal(Refused(.message, "a", on: "availability", because: "no")))
        let refused = try #require(app.watch.refusals.entries.first).refused
        #expect((refused.connection, refused.object) == ("availability", "a"))
    }

    @Test func `Each token comes back to the part and the number that it was made of`() {
        for part in SidePartName.allCases {
            for number: Int64 in [1, 2, 3, 4, 5, 1_000_000_000_000] {
                let token = SideToken(part, number)
                #expect(SideToken(token.message) == token)
                #expect(!token.message.isStored)
            }
        }
        for value: Int64 in [0, -1, -3, 1, 4, .max] { #expect(SideToken(MessageToken(rawValue: value)) == nil) }
        var tokens = SideTokens(.phones)
        let first = [tokens.next(), tokens.next()]
        #expect(first == [SideToken(.phones, 1), SideToken(.phones, 2)])
    }

    @Test func `The connection is opened with the subscriptions of all parts, which are asked before`() throws {
        try side.open()
        #expect(link.filters == ["a", "b", "both"])
        feed.filters = []
        side.subscribe()
        #expect(link.filters == ["a", "both"])
        side.handleEvents()
        #expect(home.notes == ["prepare", "connected"])
        #expect(side.will?.topic == "ibeacon-gateway/hall/availability")
    }

    @Test func `A message goes to the first part that takes it`() throws {
        try side.open()
        for topic in ["both", "b", "c"] { handle(message(topic)) }
        #expect(home.notes.suffix(1) == ["both"])
        #expect(feed.notes.suffix(1) == ["b"])
    }

    @Test func `An answer goes to the part whose message it was, and to all if no part waits for it`() throws {
        try side.open()
        link.isReachable = false
        side.handleEvents()
        let token = SideToken(.readingFeed, 7)
        #expect(side.publish(Publication(.other, topic: "x", payload: []), as: token))
        #expect(side.publish(Publication(.other, topic: "y", payload: [])))
        link.restore()
        side.handleEvents()
        handle(.refused(token.message, .byEndpoint(status: 400)))
        #expect(home.notes == ["prepare", "connected", "connected", "answered 0"])
        #expect(feed.notes == ["prepare", "connected", "connected", "answered 7", "answered 0", "refused 7"])
    }

    @Test(arguments: [true, false]) func `What a part says as it leaves is sent, and nothing after that`(waits: Bool)
        throws
    {
        try side.open()
        let availability = AvailabilityPart(side)
        side.carry([home, availability], for: nil)
        side.handleEvents()
        side.close(waits: waits)
        #expect(link.messages.map { String(decoding: $0.payload, as: UTF8.self) } == ["online", "offline"])
        #expect(link.messages.allSatisfy { $0.isRetained && $0.topic == "ibeacon-gateway/hall/availability" })
        #expect(home.notes.suffix(2) == ["leaving", "disconnected"])
        #expect(!side.publish(Publication(.other, topic: "x", payload: [])))
    }
}
