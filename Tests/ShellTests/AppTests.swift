import Base
import Configuration
import Foundation
import Health
import Messaging
import Regions
import Runtime
import ServiceSupport
import Storage
import System
import TestSupport
import Testing

@testable import Shell

/// The shell carries out the decisions of any core.
struct AppTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    // MARK: Decisions

    @Test func `What one input decides is one transaction`() throws {
        let fixture = try BellFixture(in: directory)
        let before = try #require(fixture.store.counters).transactions
        fixture.ring("one", "two", "three")
        fixture.store.step()
        #expect(fixture.store.counters?.transactions == before + 1)
        #expect(fixture.store.counters?.outboxRows == 3)
        #expect(fixture.service.finished == 1)
    }

    @Test func `An input that decides nothing stores nothing`() throws {
        let fixture = try BellFixture(in: directory)
        let before = try #require(fixture.store.counters).transactions
        fixture.app.handle(.alarm(at: fixture.host.now.advanced(by: .seconds(9))), at: fixture.host.now)
        fixture.settle()
        #expect(fixture.store.counters?.transactions == before)
        #expect(fixture.service.finished == 0)
    }

    // MARK: Messages

    @Test func `A message goes to the broker when it is on the disk, and its row goes when the broker has it`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.ring("one")
        #expect(fixture.rings.isEmpty)
        fixture.broker.isReachable = false
        fixture.settle()
        #expect(fixture.rings == ["one"])
        #expect(fixture.store.counters?.outboxRows == 1)
        fixture.broker.acknowledgeAll()
        fixture.wait(.seconds(10))
        #expect(fixture.store.counters?.outboxRows == 0)
        #expect(fixture.app.watch.queue(fixture.store.counters).sent == 1)
    }

    @Test func `While the broker is away no message is lost, and the order stays`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.broker.lose()
        fixture.settle()
        let texts = (1...50).map { "\($0)" }
        for text in texts { fixture.ring(text) }
        fixture.wait(.seconds(60))
        #expect(fixture.rings.isEmpty)
        fixture.broker.restore()
        fixture.wait(.seconds(10))
        #expect(fixture.rings == texts)
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `A message that the broker refuses for now stays in the outbox, and the state of the broker says why`()
        throws
    {
        let fixture = try BellFixture(in: directory)
        let reason = {
            fixture.app.watch.broker.state(of: fixture.app.settings.configuration.broker, at: fixture.host.now).reason
        }
        #expect(fixture.broker.settings?.hasOutbox == true)
        fixture.broker.isReachable = false
        fixture.ring("one")
        fixture.settle()
        // The first row of the outbox.
        let token = MessageToken(rawValue: 1)
        fixture.broker.send(.postponed(token, reasonCode: 0x97))
        fixture.wait(.seconds(60))
        #expect(reason() == "it refuses messages for now: quota exceeded")
        #expect(fixture.store.counters?.outboxRows == 1)
        fixture.broker.send(.acknowledged(token))
        fixture.wait(.seconds(10))
        #expect(reason().isEmpty)
        #expect(fixture.store.counters?.outboxRows == 0)
        #expect(fixture.store.counters?.refusedRows == 0)
    }

    @Test func `Messages that the broker refuses for now take the place of no others in the window`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.broker.isReachable = false
        let texts = (1...300).map { "\($0)" }
        for text in texts { fixture.ring(text) }
        fixture.settle()
        #expect(fixture.rings == Array(texts.prefix(20)))
        fixture.broker.send(.postponed(MessageToken(rawValue: 1), reasonCode: 0x97))
        fixture.settle()
        #expect(fixture.rings == Array(texts.prefix(200)))
        fixture.broker.send(.acknowledged(MessageToken(rawValue: 1)))
        fixture.settle()
        #expect(fixture.rings.count == 200)
    }

    @Test func `What the broker has not acknowledged is delivered by the next run`() throws {
        do {
            let fixture = try BellFixture(in: directory)
            fixture.broker.lose()
            fixture.settle()
            fixture.ring("one", "two")
            fixture.settle()
            fixture.app.stop()
        }
        let next = try BellFixture(in: directory)
        #expect(next.rings == ["one", "two"])
    }

    @Test func `A stored message that is no longer wanted is removed without being sent`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.service.isWanted = false
        fixture.ring("one")
        fixture.wait(.seconds(10))
        #expect(fixture.rings.isEmpty)
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `A new connection gets again what the old one had not acknowledged`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.broker.isReachable = false
        fixture.ring("one")
        fixture.settle()
        fixture.app.disconnect()
        fixture.broker.isReachable = true
        fixture.app.connect()
        fixture.wait(.seconds(10))
        #expect(fixture.rings == ["one", "one"])
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `A message without the outbox is sent at once or never`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.app.handle(.call("now"), at: fixture.host.now)
        #expect(fixture.rings == ["now"])
        fixture.broker.lose()
        fixture.settle()
        fixture.app.handle(.call("late"), at: fixture.host.now)
        fixture.broker.restore()
        fixture.wait(.seconds(10))
        #expect(fixture.rings == ["now"])
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `A new connection gets each message once that was on its way to the old one`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.ring("one", "two")
        // The store has delivered them, and the shell has not seen it yet.
        fixture.store.step()
        fixture.app.disconnect()
        fixture.app.connect()
        fixture.wait(.seconds(10))
        #expect(fixture.rings == ["one", "two"])
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `A connection that could not be opened is tried again, and the page shows why it is missing`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.app.disconnect()
        fixture.broker.canOpen = false
        fixture.app.connect()
        fixture.ring("one")
        fixture.wait(.seconds(15))
        let state = fixture.app.watch.broker.state(of: fixture.app.settings.configuration.broker, at: fixture.host.now)
        #expect(state.phase == .disconnected && state.reason.contains("pthread_create"))
        fixture.broker.canOpen = true
        fixture.wait(.seconds(15))
        #expect(fixture.broker.connections == 2)
        #expect(fixture.rings == ["one"])
    }

    @Test func `The end of a connection that could not be opened is the end of its attempts`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.app.disconnect()
        fixture.broker.canOpen = false
        fixture.app.connect()
        fixture.broker.canOpen = true
        fixture.app.connect()
        fixture.wait(.seconds(60))
        #expect(fixture.broker.connections == 2)
    }

    // MARK: Turns

    @Test func `Many messages of the broker are handled in several turns, in their order`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.service.costOfMessage = .milliseconds(1)
        let texts = (1...100).map { "\($0)" }
        for text in texts {
            fixture.broker.send(
                .message(
                    ReceivedMessage(
                        topic: "bell/pull", payload: Array(text.utf8), qos: .atLeastOnce, retained: false)))
        }
        fixture.app.handleBrokerEvents()
        let inFirstTurn = fixture.service.received.count
        #expect((2...30).contains(inFirstTurn))
        fixture.wait(.seconds(1))
        #expect(fixture.service.received == texts)
    }

    @Test func `Between two turns there is time for the page, however many messages come`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.service.costOfMessage = .milliseconds(7)
        let pull = BrokerEvent.message(
            ReceivedMessage(topic: "bell/pull", payload: [], qos: .atMostOnce, retained: false))
        for _ in 1...20 { fixture.broker.send(pull) }
        fixture.app.handleBrokerEvents()
        let inFirstTurn = fixture.service.received.count
        let next = try #require(fixture.host.nextDue)
        #expect(fixture.host.now < next && next <= fixture.host.now.advanced(by: .milliseconds(1)))
        // The broker's thread wakes the loop again and again meanwhile.
        for _ in 1...20 {
            fixture.broker.send(pull)
            fixture.app.handleBrokerEvents()
        }
        #expect(fixture.service.received.count == inFirstTurn)
        fixture.wait(.seconds(1))
        #expect(fixture.service.received.count == 40)
    }

    // MARK: Time

    @Test func `The core gets a tick when its deadline comes`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.app.handle(.alarm(at: fixture.host.now.advanced(by: .seconds(30))), at: fixture.host.now)
        fixture.wait(.seconds(29))
        #expect(fixture.rings.isEmpty)
        fixture.wait(.seconds(2))
        #expect(fixture.rings == ["alarm"])
    }

    @Test func `After a stall, of whatever length, the tick waits until nothing else is ready`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.app.handle(.alarm(at: fixture.host.now.advanced(by: .seconds(1))), at: fixture.host.now)
        for _ in 1...5 {
            fixture.host.now = fixture.host.now.advanced(by: .seconds(30))
            fixture.ring()
        }
        #expect(!fixture.app.core.inputs.contains("tick"))
        fixture.settle()
        #expect(fixture.app.core.inputs.contains("tick"))
    }

    @Test func `Where something else is always ready, a tick comes a second after it is due`() throws {
        let fixture = try BellFixture(in: directory)
        let due = fixture.host.now.advanced(by: .seconds(1))
        fixture.app.handle(.alarm(at: due), at: fixture.host.now)
        while !fixture.app.core.inputs.contains("tick"), due.duration(to: fixture.host.now) < .seconds(5) {
            fixture.host.now = fixture.host.now.advanced(by: .milliseconds(20))
            fixture.ring()
        }
        #expect(due.duration(to: fixture.host.now) >= .seconds(1))
        #expect(due.duration(to: fixture.host.now) < .seconds(1.1))
    }

    @Test func `The core hears of a suspend before anything else`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.ring()
        fixture.host.now = fixture.host.now.advanced(by: .seconds(60))
        fixture.host.suspended = .seconds(50)
        fixture.ring()
        #expect(fixture.app.core.inputs.suffix(2) == ["absent 50", "ring"])
    }

    @Test func `State is offered to the store every minute`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.wait(.seconds(185))
        #expect(fixture.app.core.inputs.count { $0 == "checkpoint" } == 3)
    }

    // MARK: Settings

    @Test func `A reload reads a first configuration file`() throws {
        let fixture = try BellFixture(in: directory, hasFile: false)
        fixture.app.reload()
        #expect(fixture.app.settings.path == nil)
        try fixture.reload("{_type: \"configuration\", tid: \"b2\"}")
        #expect(fixture.app.settings.path == directory.file("config.json"))
        #expect(fixture.app.settings.configuration.trackers[0].trackerID == "b2")
    }

    @Test func `A file that was read and is gone changes nothing at a reload`() throws {
        let fixture = try BellFixture(in: directory)
        unlink(directory.file("config.json"))
        fixture.app.reload()
        #expect(fixture.app.settings.configuration.trackers[0].trackerID == "b1")
    }

    // MARK: History

    /// A history with a transition of ten days ago and one of the last minute, kept for 30 days.
    private func fixtureWithHistory() throws -> BellFixture {
        let fixture = try BellFixture(in: directory)
        for age: Int64 in [10 * 86_400, 60] {
            let entry = PastTransition(
                tracker: "bell", rid: "r", name: "R", event: .enter, beacon: nil,
                timestamp: fixture.host.wallClock.epochSeconds(at: fixture.host.now) - age, stamp: .exact,
                happened: fixture.host.now)
            fixture.store.submit(.commit([.history(entry)]))
        }
        fixture.settle()
        return fixture
    }

    private func historyCount() throws -> Int { try StoreReader(directory: directory.path).summary().transitions }

    private func setWallClock(_ fixture: BellFixture, ahead days: Int64) {
        fixture.host.wallClock = WallClock(
            epochOffset: 1_700_000_000_000_000_000 + days * 86_400_000_000_000, isKnown: true)
    }

    @Test func `A wall clock ten years ahead deletes no history for a day, over a reload and a restart`() throws {
        let fixture = try fixtureWithHistory()
        fixture.skip(.seconds(2 * 86_400))
        #expect(try historyCount() == 2)
        setWallClock(fixture, ahead: 3653)
        try fixture.reload("{_type: \"configuration\", tid: \"b1\"}")
        fixture.skip(.seconds(23 * 3600))
        #expect(try historyCount() == 2)
        fixture.app.stop()
        let next = try BellFixture(in: directory, host: fixture.host)
        next.skip(.seconds(1800))
        #expect(try historyCount() == 2)
        // A clock that stays is believed.
        next.skip(.seconds(2 * 3600))
        #expect(try historyCount() == 0)
    }

    @Test func `A new limit deletes at once, and 0 deletes all, whatever the clock says`() throws {
        let fixture = try fixtureWithHistory()
        try fixture.reload("{_type: \"configuration\", tid: \"b1\", days: 7}")
        fixture.settle()
        #expect(try historyCount() == 1)
        setWallClock(fixture, ahead: 3653)
        try fixture.reload("{_type: \"configuration\", tid: \"b1\", days: 6}")
        fixture.settle()
        #expect(try historyCount() == 1)
        fixture.host.wallClock = WallClock(epochOffset: 0, isKnown: false)
        try fixture.reload("{_type: \"configuration\", tid: \"b1\", days: 0}")
        fixture.settle()
        #expect(try historyCount() == 0)
    }

    // MARK: Settings, page and end

    @Test func `A reload applies the file, and a file with a mistake changes nothing`() throws {
        let fixture = try BellFixture(in: directory)
        try fixture.reload("{_type: \"configuration\", tid: \"b2\"}")
        #expect(fixture.app.settings.configuration.trackers[0].trackerID == "b2")
        try fixture.reload("{_type: \"configuration\", tid: ")
        #expect(fixture.app.settings.configuration.trackers[0].trackerID == "b2")
        #expect(
            fixture.host.reports == [.ready(status: "the bell hangs")] + [.reloading, .reloaded, .reloading, .reloaded])
    }

    @Test func `The page is told of a decision`() throws {
        let fixture = try BellFixture(in: directory)
        let before = fixture.status.changes
        fixture.ring()
        #expect(fixture.status.changes == before + 1)
    }

    @Test func `Changes that cannot be written at the end are counted in the log`() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let fixture = try BellFixture(in: directory, log: Log(threshold: .error, style: .plain, descriptor: ends[1]))
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name.hasPrefix("state.") {
            try FileManager.default.removeItem(atPath: "\(directory.path)/\(name)")
        }
        fixture.ring()
        fixture.app.stop()
        close(ends[1])
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(ends[0], &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        #expect(text.contains("the last 2 changes are lost"), "\(text)")
    }

    @Test func `What the core decides at the end is on the disk, and the next run gets it`() throws {
        let fixture = try BellFixture(in: directory)
        fixture.ring()
        fixture.app.stop()
        #expect(!fixture.store.isOpen && !fixture.broker.isConnected && fixture.host.exitCode == .ok)
        #expect(try BellFixture(in: directory).service.restored == "stopped")
    }
}
