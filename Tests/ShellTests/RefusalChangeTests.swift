import Base
import Messaging
import Testing

@testable import Shell

/// What an event of a connection changes in the record of refusals.
@Suite struct RefusalChangeTests {
    private static let connection = BrokerSettings(hosts: ["broker"], port: 1883, clientID: "janehall")

    private func changes(_ event: BrokerEvent, _ connection: BrokerSettings? = connection) -> [RefusalChange] {
        RefusalChange.changes(by: event, of: connection) { $0.isStored ? "a/b" : nil }
    }

    @Test func `A connection that is accepted admits its client id`() {
        #expect(
            changes(.connected(sessionPresent: false)) == [
                .admitted(Refused(.connection, "janehall", on: "main", because: ""))
            ])
    }

    @Test func `The end of a connection refuses it, and what it retains is not known any more`() {
        #expect(
            changes(.disconnected(.silent, retryIn: .seconds(1))) == [
                .forgotten(.retain, of: "main"),
                .refused(BrokerFailure.silent.refused(clientID: "janehall", on: "main"), isMissed: true),
            ])
    }

    @Test func `Without a connection only what the event itself refuses counts`() {
        let refused = Refused(.message, "a/b", on: "main", because: "no right")
        #expect(changes(.refusal(refused), nil) == [.refused(refused, isMissed: true)])
        #expect(changes(.disconnected(.silent, retryIn: .seconds(1)), nil).isEmpty)
    }

    @Test func `A broker that retains nothing refuses that, and others do not`() {
        var limits = BrokerLimits.none
        #expect(changes(.limited(limits)).isEmpty)
        limits.retains = false
        #expect(
            changes(.limited(limits)) == [
                .refused(
                    Refused(.retain, "janehall", on: "main", because: "it says so when it accepts a connection"),
                    isMissed: true)
            ])
    }

    @Test func `What an HTTP server answers is said of the topic of the message`() {
        var server = Self.connection
        server.endpoint = BrokerSettings.Posting(url: "http://server/pub", senders: [])
        let (stored, other) = (MessageToken(rawValue: 1), MessageToken(rawValue: -1))
        #expect(
            changes(.acknowledged(stored), server) == [.admitted(Refused(.post, "a/b", on: "main", because: ""))])
        #expect(changes(.acknowledged(other), server).isEmpty)
        #expect(changes(.acknowledged(stored)).isEmpty)
        #expect(
            changes(.steppedAside(stored, topic: "a/c", reason: "500"), server) == [
                .refused(Refused(.post, "a/c", on: "main", because: "500"), isMissed: false)
            ])
    }
}
