import Base
import Testing

@testable import BluetoothProxy

/// What one client sees.
@Suite struct SessionTests {
    @Test func `Home Assistant's order of messages is answered`() throws {
        var harness = try ProxyHarness()
        let id = harness.accept()
        harness.join(id)
        #expect(harness.clients[id]?.hello == Array("kitchen\0b827eb001122\0".utf8))
        #expect(harness.clients[id]?.isReady == true)
        harness.ask(id, 1, "0a024841")
        harness.ask(id, 3)
        harness.ask(id, 9)
        harness.ask(id, 11)
        #expect(harness.messages(id) == [2, 10, 19])
        harness.ask(id, 66, "0801")
        #expect(harness.messages(id) == [126])
        harness.ask(id, 127, "")
        #expect(harness.messages(id) == [126])
        for type: UInt16 in [20, 34, 38] { harness.ask(id, type) }
        #expect(harness.messages(id).isEmpty)
        harness.ask(id, 7)
        harness.ask(id, 87)
        harness.ask(id, 5)
        #expect(harness.messages(id) == [8, 6])
        #expect(harness.closed.contains(id))
    }

    @Test func `Hello and handshake may come byte by byte`() throws {
        var harness = try ProxyHarness()
        let id = harness.accept()
        for byte in harness.clients[id]?.begin() ?? [] { harness.input(.received(id, [byte])) }
        #expect(harness.clients[id]?.isReady == true)
    }

    @Test func `What a client says in its hello is part of the handshake`() throws {
        var harness = try ProxyHarness()
        let id = harness.accept()
        var client = TestClient(
            key: ProxyHarness.key, functions: harness.functions, prologue: Array("NoiseAPIInit\0\u{3}abc".utf8))
        let first = FrameReader.frame([0] + client.firstMessage())
        harness.clients[id] = client
        harness.input(.received(id, [1, 0, 3] + Array("abc".utf8) + first))
        #expect(harness.clients[id]?.isReady == true)
    }

    @Test func `A wrong key is told in the words that Home Assistant knows, and nothing else`() throws {
        var harness = try ProxyHarness()
        for key in [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 9, count: 32)] {
            let id = harness.accept(key: key)
            harness.join(id)
            #expect(harness.clients[id]?.refusal == "Handshake MAC failure")
            #expect(harness.closed.contains(id))
        }
        #expect(harness.server.status.counters.failed == 2)
        #expect(harness.server.status.clients.isEmpty)
    }

    static let garbage: [([UInt8], String?)] = [
        // A client without encryption: its hello.
        ([0, 2, 1, 8, 1], "Bad indicator byte"), (Array("GET / HTTP/1.1\r\n\r\n".utf8), "Bad indicator byte"),
        ([1, 0, 0, 1, 0, 0], "Bad handshake packet"), ([1, 0, 0, 1, 0, 2, 0, 0], "Bad handshake packet"),
        // The version of the handshake is not known.
        ([1, 0, 0, 1, 0, 49, 1] + [UInt8](repeating: 5, count: 48), "Bad handshake packet"),
        // A frame that will not end.
        ([1, 255, 255] + [UInt8](repeating: 1, count: 300), "Bad handshake packet"),
    ]

    @Test(arguments: garbage.indices) func `Garbage is told so, and closed`(row: Int) throws {
        var harness = try ProxyHarness()
        let id = harness.accept()
        harness.input(.received(id, Self.garbage[row].0))
        #expect(harness.clients[id]?.refusal == Self.garbage[row].1)
        #expect(harness.closed.contains(id))
    }

    @Test func `Half a handshake is closed after five seconds, without a word`() throws {
        var harness = try ProxyHarness()
        let id = harness.accept()
        harness.input(.received(id, [1, 0]))
        harness.pass(.milliseconds(4999))
        #expect(harness.closed.isEmpty)
        harness.input(.received(id, [0]))
        harness.pass(.milliseconds(1))
        #expect(harness.closed == [id])
        #expect(harness.server.nextDeadline == nil)
    }

    @Test func `A changed message ends the session`() throws {
        var harness = try ProxyHarness()
        let id = harness.ready()
        var frame = harness.clients[id]?.send(7) ?? []
        frame[5] ^= 1
        harness.input(.received(id, frame))
        #expect(harness.closed == [id])
        #expect(harness.messages(id).isEmpty)
    }

    @Test func `What is not offered is refused in the protocol's words`() throws {
        var harness = try ProxyHarness()
        let id = harness.ready()
        harness.ask(id, 68, "0805")
        harness.ask(id, 68, "08051002")
        harness.ask(id, 70, "0805")
        harness.ask(id, 73, "0805102a")
        harness.ask(id, 80)
        harness.ask(id, 145, "0805")
        #expect(harness.messages(id) == [69, 85, 82, 82, 81, 146])
        harness.ask(id, 36)
        #expect(harness.messages(id).isEmpty)
    }

    @Test func `A client without raw packets gets none`() throws {
        var harness = try ProxyHarness()
        let id = harness.ready()
        harness.ask(id, 66)
        #expect(harness.messages(id) == [126])
        #expect(!harness.effects.contains(.listen(true)))
    }

    @Test func `The time is that of the clock when the client asks`() throws {
        var harness = try ProxyHarness()
        let id = harness.ready()
        harness.input(.time(epochSeconds: 1_795_833_590))
        harness.pass(.seconds(10))
        harness.ask(id, 36)
        #expect(harness.taken(id).map(\.payload) == [bytes("0d003f0a6b")])
    }

    @Test func `A silent client is asked after 60 seconds, and closed after 90`() throws {
        var harness = try ProxyHarness()
        let id = harness.subscribed()
        harness.pass(.seconds(60))
        #expect(harness.messages(id) == [7])
        harness.pass(.milliseconds(29_999))
        #expect(harness.closed.isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.closed == [id])
        #expect(harness.messages(id).isEmpty)
        #expect(harness.takeEffects().contains(.note(.left(address: "192.0.2.1", name: "HA", .silent))))
    }

    @Test func `A client that answers is not closed`() throws {
        var harness = try ProxyHarness()
        let id = harness.ready()
        for _ in 0..<10 {
            harness.pass(.seconds(60))
            #expect(harness.messages(id) == [7])
            harness.ask(id, 8)
        }
        #expect(harness.closed.isEmpty)
    }

    @Test func `A client that asks and does not read is closed`() throws {
        var harness = try ProxyHarness()
        let id = harness.ready()
        // What is read is not counted, however much it is.
        for _ in 0..<1000 { harness.ask(id, 7) }
        harness.input(.blocked(id))
        for _ in 0..<64 { harness.ask(id, 7) }
        #expect(harness.closed.isEmpty)
        harness.ask(id, 7)
        #expect(harness.closed == [id])
    }

    @Test func `Many requests at once are answered`() throws {
        var harness = try ProxyHarness()
        let id = harness.ready()
        let pings = (0..<170).flatMap { _ in harness.clients[id]?.send(7) ?? [] }
        harness.input(.received(id, pings))
        #expect(harness.messages(id).count == 170)
        #expect(harness.closed.isEmpty)
    }
}
