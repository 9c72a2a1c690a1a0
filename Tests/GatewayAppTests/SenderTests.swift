import Base
import Beacon
import Configuration
import GatewayEntities
import JSON
import Messaging
import ReadingFeed
import Status
import Testing

@testable import GatewayApp

/// The rules by which the parts of the second connection send, without a connection.
@Suite struct SenderTests {
    // MARK: Home Assistant

    private var snapshot: StatusSnapshot {
        var snapshot = StatusSnapshot(
            now: .zero, wallClock: WallClock(epochOffset: 0, isKnown: true), version: "1", device: "hall",
            startedAt: .zero)
        snapshot.trackers = [
            .init(
                tid: "AN", topic: "owntracks/home/anna", device: "anna",
                regions: (1...50).map { .init(rid: "\($0)", name: "\($0)", description: "\($0)", isInside: false) })
        ]
        return snapshot
    }

    private func home() -> HomeAssistantSender {
        HomeAssistantSender(.init(prefix: "homeassistant", device: "hall", version: "1"))
    }

    /// - Returns: The tokens of what the connection took.
    private func send(_ sender: inout HomeAssistantSender, most: Int = .max) -> [SideToken] {
        var tokens: [SideToken] = []
        sender.send { _, token in
            guard tokens.count < most else { return false }
            tokens.append(token)
            return true
        }
        return tokens
    }

    @Test func `Home Assistant gets as many messages as the window has, and another one for each answer`() {
        var sender = home()
        sender.connected()
        sender.update(snapshot)
        let first = send(&sender)
        #expect(first.count == HomeAssistantSender.window)
        var more = send(&sender)
        #expect(more.isEmpty)
        sender.answered(first[3])
        sender.answered(SideToken(.readingFeed, 1))
        more = send(&sender)
        #expect(more.count == 1)
    }

    @Test func `What the connection does not take is given again, once and with another token`() {
        var (whole, sender) = (home(), home())
        whole.connected()
        whole.update(snapshot)
        sender.connected()
        sender.update(snapshot)
        var tokens: [SideToken] = []
        while true {
            let sent = send(&sender, most: 7)
            if sent.isEmpty { break }
            tokens += sent
            for token in sent { sender.answered(token) }
        }
        var all = 0
        while true {
            let sent = send(&whole)
            if sent.isEmpty { break }
            all += sent.count
            for token in sent { whole.answered(token) }
        }
        #expect(tokens.count == all)
        #expect(Set(tokens).count == all)
    }

    @Test func `A lost connection forgets what waits, and the next one says all of it again`() {
        var sender = home()
        sender.connected()
        sender.update(snapshot)
        _ = send(&sender)
        sender.disconnected()
        let rest = send(&sender)
        var wantsSoon = [sender.wantsSoon()]
        #expect(rest.isEmpty && wantsSoon == [false])
        sender.connected()
        #expect(sender.needsUpdate)
        sender.update(snapshot)
        wantsSoon = [sender.wantsSoon(), sender.wantsSoon()]
        #expect(wantsSoon == [true, false])
        sender.update(snapshot)
        wantsSoon = [sender.wantsSoon()]
        #expect(wantsSoon == [true])
    }

    // MARK: Readings

    private func readings() throws -> ReadingSender {
        let json = try JSONValue(parsing: Array("{deviceId: 'hall', rooms: {}}".utf8), dialect: .json5)
        let settings = try #require(ReadingFeedSettings(try Configuration(json, hostName: "hall")))
        return ReadingSender(settings, startID: "a")
    }

    @Test func `While a second is not sent yet, later ones are dropped and counted`() throws {
        var sender = try readings()
        var published: [(topic: String, token: SideToken)] = []
        func send(_ messages: [ReadingFeed.Message]) {
            sender.send(messages, regionName: { _ in nil }) { publication, token in
                #expect(publication.qos == .atMostOnce && !publication.isRetained)
                published.append((publication.topic, token))
                return publication.topic != "ibeacon-rooms/home/nearby/hall"
            }
        }
        send([.heard([1])])
        send([.heard([2]), .heard([3])])
        #expect(published.map(\.topic) == ["ibeacon-rooms/home/heard/hall"])
        #expect(sender.dropped == 2)
        sender.answered(SideToken(.homeAssistant, published[0].token.number))
        send([.heard([4])])
        #expect(sender.dropped == 3)
        sender.answered(published[0].token)
        // The connection takes no more.
        send([.nearby([])])
        #expect(sender.dropped == 4)
        send([.heard([5])])
        #expect(published.count == 3)
        // What was not sent is no reason to drop on the next connection.
        sender.disconnected(at: .zero)
        send([.heard([6])])
        #expect(published.count == 4)
        #expect(Set(published.map(\.token)).count == 4)
    }

    @Test func `A site is there for ten seconds of a connection without a list, then only with one`() throws {
        var sender = try readings()
        let seconds = (0...20).map { MonotonicInstant.zero.advanced(by: .seconds($0)) }
        #expect(sender.mayHaveSite(at: seconds[20]))
        sender.connected(at: seconds[1])
        #expect(sender.mayHaveSite(at: seconds[10]))
        #expect(!sender.mayHaveSite(at: seconds[11]))
        sender.setSite(true)
        #expect(sender.mayHaveSite(at: seconds[11]))
        sender.disconnected(at: seconds[12])
        #expect(sender.mayHaveSite(at: seconds[20]))
    }

    @Test func `The service is told once for each connection that its list cannot be read`() throws {
        var sender = try readings()
        var may = [sender.mayComplain(), sender.mayComplain()]
        #expect(may == [true, false])
        sender.disconnected(at: .zero)
        may = [sender.mayComplain()]
        #expect(may == [true])
    }
}
