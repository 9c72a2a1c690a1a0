import Base
import Testing

@testable import BluetoothProxy

/// Packets, several clients, and Home Assistants that are dialled.
@Suite struct ServerTests {
    // MARK: Packets

    @Test func `Packets are wanted while a client subscribes`() throws {
        var harness = try ProxyHarness()
        harness.hear()
        #expect(harness.server.nextDeadline == nil)
        let first = harness.subscribed()
        let second = harness.subscribed(from: "192.0.2.2")
        #expect(harness.takeEffects().filter { $0 == .listen(true) }.count == 1)
        harness.ask(first, 87)
        #expect(harness.takeEffects().isEmpty)
        harness.input(.closed(second))
        #expect(harness.takeEffects().contains(.listen(false)))
    }

    @Test func `A packet waits for others 20 milliseconds`() throws {
        var harness = try ProxyHarness()
        let id = harness.subscribed()
        harness.hear()
        harness.pass(.milliseconds(10))
        harness.hear()
        harness.pass(.milliseconds(9))
        #expect(try harness.packets(id) == 0)
        harness.pass(.milliseconds(1))
        #expect(try harness.packets(id) == 2)
    }

    @Test func `A full batch is sent at once`() throws {
        var harness = try ProxyHarness()
        let id = harness.subscribed()
        harness.hear(100)
        #expect(try harness.packets(id) > 80)
        harness.pass(.milliseconds(25))
        #expect(harness.server.status.clients.first?.sent == 100)
    }

    @Test func `A batch is sent where the tick is late`() throws {
        var harness = try ProxyHarness()
        let id = harness.subscribed()
        harness.hear()
        harness.now = harness.now.advanced(by: .milliseconds(30))
        harness.hear()
        #expect(try harness.packets(id) == 2)
    }

    @Test func `After a batch that was late the next wait less, and longer again when the machine has time`() throws {
        var harness = try ProxyHarness()
        let id = harness.subscribed()
        harness.hear()
        harness.now = harness.now.advanced(by: .milliseconds(30))
        harness.input(.tick)
        harness.hear()
        harness.pass(.milliseconds(10))
        #expect(try harness.packets(id) == 2)
        for _ in 0..<40 {
            harness.hear()
            harness.pass(.milliseconds(25))
        }
        harness.hear()
        harness.pass(.milliseconds(19))
        #expect(try harness.packets(id) == 40)
        harness.pass(.milliseconds(1))
        #expect(try harness.packets(id) == 1)
    }

    @Test func `However late the machine is, packets wait four milliseconds for others`() {
        var window = BatchWindow()
        #expect(window.length == .milliseconds(20))
        window.sent(late: .milliseconds(7))
        #expect(window.length == .milliseconds(13))
        window.sent(late: .seconds(1))
        #expect(window.length == .milliseconds(4))
        window.sent(late: .milliseconds(-15))
        #expect(window.length == .milliseconds(4))
    }

    @Test func `A client that is frozen for a minute costs the others nothing, and at most 256 kB`() throws {
        var harness = try ProxyHarness()
        let ids = (1...4).map { harness.subscribed(from: "192.0.2.\($0)") }
        harness.input(.blocked(ids[0]))
        var received = 0
        for second in 0..<60 {
            for _ in 0..<40 {
                harness.hear(25)
                harness.pass(.milliseconds(25))
            }
            if second % 20 == 19 { for id in ids { harness.ask(id, 7) } }
            received += try harness.packets(ids[1])
            let queued = try #require(harness.server.status.clients.first?.queued)
            #expect(queued <= PacketQueue.mostBytes)
        }
        #expect(received == 60_000)
        let frozen = try #require(harness.server.status.clients.first)
        #expect(frozen.sent == 0 && frozen.dropped > 50_000)
        #expect(harness.server.status.clients.dropFirst().allSatisfy { $0.dropped == 0 && $0.sent == 60_000 })
        harness.input(.drained(ids[0]))
        harness.pass(.milliseconds(25))
        let after = try #require(harness.server.status.clients.first)
        // The newest packets come, in order, and none is counted twice.
        #expect(after.sent + after.dropped == 60_000 && after.queued == 0)
        #expect(try harness.packets(ids[0]) == Int(after.sent))
    }

    @Test func `What was too slow comes in turns of at most 24 kB`() throws {
        var harness = try ProxyHarness()
        let id = harness.subscribed()
        harness.input(.blocked(id))
        harness.hear(4000)
        let before = harness.bytesSent[id] ?? 0
        harness.input(.drained(id))
        let turn = (harness.bytesSent[id] ?? 0) - before
        #expect(turn > 16 << 10 && turn <= ProxyServer.mostUnwritten)
        #expect(harness.server.nextDeadline == .zero)
        harness.input(.blocked(id))
        #expect(harness.server.nextDeadline != .zero)
    }

    @Test func `Packets that are older than five seconds are not sent as new`() throws {
        var harness = try ProxyHarness()
        let id = harness.subscribed()
        harness.input(.blocked(id))
        harness.hear()
        harness.pass(.seconds(6))
        harness.hear()
        harness.pass(.milliseconds(25))
        harness.input(.drained(id))
        #expect(try harness.packets(id) == 1)
        #expect(harness.server.status.counters.dropped == 1)
    }

    // MARK: Who is served

    @Test func `A fifth client is refused, and one that leaves makes room`() throws {
        var harness = try ProxyHarness()
        let ids = (1...4).map { harness.ready(from: "192.0.2.\($0)") }
        let fifth = harness.accept(from: "192.0.2.5")
        harness.join(fifth)
        #expect(harness.clients[fifth]?.refusal == "Too many clients")
        #expect(harness.closed == [fifth])
        harness.ask(ids[0], 5)
        let sixth = harness.ready(from: "192.0.2.6")
        #expect(harness.clients[sixth]?.isReady == true)
    }

    @Test func `Ten thousand connections leave room for one with the key, and cause one line a minute`() throws {
        var harness = try ProxyHarness()
        for number in 0..<10_000 {
            _ = harness.accept(from: "198.51.100.\(number % 250)")
            harness.pass(.milliseconds(5))
        }
        let id = harness.ready()
        #expect(harness.clients[id]?.isReady == true)
        #expect(harness.clients.count - harness.closed.count <= ProxyServer.mostHandshakes + 1)
        let notes = harness.takeEffects().filter(\.isNote)
        #expect(notes.count == 1)
        // The client with the key took the place of one more.
        #expect(harness.server.status.counters.failed == UInt64(10_001 - ProxyServer.mostHandshakes))
        harness.pass(.seconds(5))
        #expect(harness.server.status.counters.failed == 10_000)
    }

    @Test func `The connections of one address end its own handshakes first`() throws {
        var harness = try ProxyHarness()
        let slow = harness.accept(from: "192.0.2.1")
        for _ in 0..<100 { _ = harness.accept(from: "198.51.100.1") }
        #expect(!harness.closed.contains(slow))
        harness.join(slow)
        #expect(harness.clients[slow]?.isReady == true)
    }

    @Test func `To a refused address nothing is offered, and it is said once`() throws {
        var harness = try ProxyHarness()
        let id = harness.ready(from: "127.0.0.1", refusal: "it is this machine")
        harness.ask(id, 9)
        let info = try #require(harness.taken(id).first)
        #expect(info.payload == ProxyMessage.deviceInfo(ProxyHarness.settings, isOffered: false).payload)
        #expect(harness.effects.isEmpty, "a look at the proxy is not refused")
        harness.ask(id, 11)
        harness.ask(id, 66, "0801")
        harness.ask(id, 66, "0801")
        #expect(harness.messages(id) == [19])
        #expect(harness.takeEffects() == [.note(.refused(address: "127.0.0.1", reason: "it is this machine"))])
        #expect(harness.server.status.counters.refused == 1)
        #expect(harness.server.status.clients.first?.refusal == "it is this machine")
    }

    @Test func `The end of the proxy is told to all clients`() throws {
        var harness = try ProxyHarness()
        let id = harness.subscribed()
        let stranger = harness.accept()
        _ = harness.takeEffects()
        harness.input(.stop)
        #expect(harness.messages(id) == [5])
        #expect(harness.takeEffects() == [.close(id), .close(stranger), .listen(false)])
        #expect(harness.server.nextDeadline == nil)
    }

    // MARK: The scanner

    @Test func `What the scanner does is told to those that subscribe`() throws {
        var harness = try ProxyHarness()
        let id = harness.subscribed()
        let other = harness.ready(from: "192.0.2.2")
        harness.input(.scan(ProxyScan(state: .running)))
        harness.input(.scan(ProxyScan(state: .running)))
        #expect(harness.taken(id).map(\.payload) == [bytes("0802")])
        #expect(harness.messages(other).isEmpty)
        harness.ask(other, 66, "0801")
        #expect(harness.taken(other).map(\.payload) == [bytes("0802")])
    }

    @Test func `An active scan is asked for only where it is offered`() throws {
        var harness = try ProxyHarness()
        let id = harness.subscribed()
        _ = harness.takeEffects()
        harness.ask(id, 127, "0801")
        #expect(harness.messages(id) == [126] && harness.effects.isEmpty)
    }

    @Test func `It is asked for while one client wants it`() throws {
        var harness = try ProxyHarness()
        harness.input(.scan(ProxyScan(state: .running, configuredMode: .active)))
        let first = harness.subscribed()
        let second = harness.subscribed(from: "192.0.2.2")
        _ = harness.takeEffects()
        harness.ask(first, 127, "0801")
        harness.ask(second, 127, "0801")
        #expect(harness.takeEffects() == [.scanActively(true)])
        harness.ask(first, 127)
        #expect(harness.takeEffects().isEmpty)
        harness.input(.closed(second))
        #expect(harness.takeEffects().contains(.scanActively(false)))
    }

    @Test func `What is no longer offered is not wanted either, and has to be asked for again`() throws {
        var harness = try ProxyHarness()
        harness.input(.scan(ProxyScan(state: .running, configuredMode: .active)))
        let id = harness.subscribed()
        harness.ask(id, 127, "0801")
        #expect(harness.takeEffects().contains(.scanActively(true)))
        harness.input(.scan(ProxyScan(state: .running)))
        #expect(harness.takeEffects() == [.scanActively(false)])
        harness.input(.scan(ProxyScan(state: .running, configuredMode: .active)))
        #expect(harness.takeEffects().isEmpty)
    }

    // MARK: Dialling

    private let home = "192.0.2.9"

    @Test func `A known Home Assistant is dialled at the start, soon again, and then every ten seconds`() throws {
        var harness = try ProxyHarness()
        harness.input(.homes([home]))
        #expect(harness.takeEffects() == [.dial(address: home)])
        #expect(harness.server.nextDeadline == nil, "one dial at a time")
        harness.input(.notDialled(address: home))
        harness.pass(.milliseconds(500))
        #expect(harness.takeEffects() == [.dial(address: home)])
        harness.pass(.seconds(20))
        harness.input(.notDialled(address: home))
        harness.pass(.milliseconds(9_999))
        #expect(harness.takeEffects().isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.takeEffects() == [.dial(address: home)])
    }

    @Test func `The device that dials speaks first, and the session is the same`() throws {
        var harness = try ProxyHarness()
        harness.input(.homes([home]))
        let id = harness.dialled(home)
        #expect(harness.clients[id]?.hello == Array("kitchen\0b827eb001122\0".utf8))
        harness.join(id)
        harness.ask(id, 66, "0801")
        #expect(harness.messages(id) == [126])
        #expect(harness.server.status.homes == [.init(address: home, isConnected: true)])
        #expect(harness.server.status.clients.first?.isDialled == true)
        harness.pass(.seconds(59))
        #expect(!harness.takeEffects().dropFirst().contains(.dial(address: home)))
    }

    @Test func `A client that asks for it is dialled ten seconds after it has gone, or at its birth message`() throws {
        var harness = try ProxyHarness()
        let id = harness.ready(from: home, isDialTarget: true)
        #expect(harness.takeEffects() == [.adopted([home])])
        harness.input(.homeAssistantStarted)
        #expect(harness.takeEffects().isEmpty, "it is connected")
        harness.pass(.seconds(16))
        harness.input(.closed(id))
        #expect(harness.takeEffects().isEmpty)
        harness.pass(.seconds(10))
        #expect(harness.takeEffects() == [.dial(address: home)])
        harness.input(.notDialled(address: home))
        harness.input(.homeAssistantStarted)
        #expect(harness.takeEffects() == [.dial(address: home)])
        harness.input(.notDialled(address: home))
        harness.pass(.milliseconds(500))
        #expect(harness.takeEffects() == [.dial(address: home)])
    }

    @Test func `A dial that ends without a handshake is repeated`() throws {
        var harness = try ProxyHarness()
        harness.input(.homes([home]))
        harness.pass(.seconds(20))
        _ = harness.takeEffects()
        let id = harness.dialled(home)
        harness.input(.closed(id))
        harness.pass(.seconds(10))
        #expect(harness.takeEffects() == [.dial(address: home)])
        #expect(harness.server.status.counters.failed == 0)
    }

    @Test func `A Home Assistant that connects by itself is not dialled, and a late dial is closed`() throws {
        var harness = try ProxyHarness()
        harness.input(.homes([home]))
        let own = harness.ready(from: home, isDialTarget: true)
        let late = harness.dialled(home)
        #expect(harness.closed == [late])
        harness.pass(.seconds(30))
        #expect(harness.takeEffects().filter { $0 == .dial(address: home) }.count == 1)
        #expect(!harness.closed.contains(own))
    }

    @Test func `Another address of a Home Assistant that is away takes its place`() throws {
        var harness = try ProxyHarness()
        harness.input(.homes([home]))
        harness.input(.notDialled(address: home))
        _ = harness.takeEffects()
        _ = harness.ready(from: "2001:db8::9", isDialTarget: true)
        #expect(harness.takeEffects() == [.adopted(["2001:db8::9"])])
        _ = harness.ready(from: "192.0.2.10", isDialTarget: true)
        #expect(harness.takeEffects() == [.adopted(["2001:db8::9", "192.0.2.10"])])
    }

    @Test func `An address that is refused is neither adopted nor dialled again`() throws {
        var harness = try ProxyHarness()
        _ = harness.ready(from: home, refusal: "it is this machine", isDialTarget: true)
        #expect(harness.takeEffects().isEmpty)
        var other = try ProxyHarness()
        other.input(.homes([home]))
        let id = other.dialled(home, refusal: "it is this machine")
        #expect(other.closed == [id])
        #expect(other.takeEffects().contains(.adopted([])))
        #expect(other.server.nextDeadline == nil)
    }

    @Test func `Where dialling is off nothing is dialled and nothing promised`() throws {
        var settings = ProxyHarness.settings
        settings.dials = false
        var harness = try ProxyHarness(settings)
        harness.input(.homes([home]))
        _ = harness.ready(from: home, isDialTarget: true)
        #expect(harness.takeEffects().isEmpty)
    }
}
