import Base
import Beacon
import BluetoothProxy
import Encryption
import Glibc
import Runtime
import System
import Testing

@testable import ProxyLink

/// The sockets, on a real loop.
@Suite struct ProxyLinkTests {
    private let loop: EventLoop
    private let link: ProxyLink
    private let functions: NoiseFunctions

    init() throws {
        loop = try EventLoop()
        functions = try #require(NoiseFunctions())
        link = try ProxyLink(
            ProxyHarness.settings, key: try #require(ProxyKey(ProxyHarness.key)), functions: functions,
            host: "127.0.0.1",
            port: 0, loop: loop, refusal: { _ in nil })
    }

    private func connect() throws -> CInt {
        let address = try #require(NetworkAddress(host: "127.0.0.1", port: link.port))
        let descriptor = try address.makeSocket()
        _ = try address.connect(descriptor)
        return descriptor
    }

    private func steps(until isDone: () -> Bool) throws {
        // What the client reads is no event of the loop.
        let end = Clocks.now().advanced(by: .seconds(20))
        while !isDone(), Clocks.now() < end { _ = try loop.step(timeout: .milliseconds(5)) }
        #expect(isDone())
    }

    /// Moves what has come to the client.
    private func receive(_ client: inout TestClient, _ descriptor: CInt) -> Bool {
        var space = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &space, space.count, 0)
        if count > 0 { client.receive(Array(space[..<count])) }
        return count != 0
    }

    private func send(_ bytes: [UInt8], _ descriptor: CInt) {
        #expect(Glibc.send(descriptor, bytes, bytes.count, 0) == bytes.count)
    }

    private func subscribe(_ client: inout TestClient, _ descriptor: CInt) throws {
        var copy = client
        try steps { link.status.counters.failed == 0 && writable(descriptor) }
        send(copy.begin(), descriptor)
        try steps {
            _ = receive(&copy, descriptor)
            return copy.isReady
        }
        send(copy.send(66, [8, 1]), descriptor)
        try steps { link.status.clients.contains(where: \.isSubscribed) }
        client = copy
    }

    private func writable(_ descriptor: CInt) -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wait, 1, 0) == 1
    }

    private func hear(_ count: Int) {
        let report = AdvertisingReport(address: DeviceAddress(value: 1, isRandom: true), rssi: nil)
        for _ in 0..<count { link.handle(.heard(report, data: [2, 1, 6])) }
    }

    @Test func `A client gets its packets over a socket, and its end is noticed`() throws {
        var effects: [ProxyServer.Effect] = []
        link.onEffect = { effects.append($0) }
        var client = TestClient(key: ProxyHarness.key, functions: functions)
        let descriptor = try connect()
        try subscribe(&client, descriptor)
        #expect(effects.contains(.listen(true)))
        #expect(link.status.clients.first?.address == "127.0.0.1")
        hear(10)
        try steps {
            _ = receive(&client, descriptor)
            return client.messages.contains { $0.type == 93 }
        }
        close(descriptor)
        try steps { effects.contains(.listen(false)) }
        #expect(link.status.clients.isEmpty)
    }

    @Test func `A client that does not read costs at most 256 kB, and gets the newest packets when it reads again`()
        throws
    {
        var client = TestClient(key: ProxyHarness.key, functions: functions)
        let descriptor = try connect()
        defer { close(descriptor) }
        try subscribe(&client, descriptor)
        for _ in 0..<300 {
            hear(1000)
            _ = try loop.step(timeout: .zero)
        }
        let frozen = try #require(link.status.clients.first)
        #expect(frozen.dropped > 100_000)
        #expect(frozen.queued + ProxyServer.mostUnwritten <= 256 << 10)
        try steps {
            _ = receive(&client, descriptor)
            return link.status.clients.first?.queued == 0
        }
        #expect(client.refusal == nil, "each message was whole, and none was left out")
    }

    @Test func `When it stops, the port is free`() throws {
        let descriptor = try connect()
        defer { close(descriptor) }
        try steps { writable(descriptor) }
        link.stop()
        let again = try ProxyLink(
            ProxyHarness.settings, key: try #require(ProxyKey(ProxyHarness.key)), functions: functions,
            host: "127.0.0.1",
            port: link.port, loop: loop, refusal: { _ in nil })
        #expect(again.port == link.port)
    }

    @Test func `A name is no address to listen on`() throws {
        let key = try #require(ProxyKey(ProxyHarness.key))
        #expect(throws: SystemError("listen", code: EINVAL)) {
            try ProxyLink(
                ProxyHarness.settings, key: key, functions: functions, host: "localhost.example", port: 0, loop: loop,
                refusal: { _ in nil })
        }
        #expect(throws: SystemError("bind", code: EADDRINUSE)) {
            try ProxyLink(
                ProxyHarness.settings, key: key, functions: functions, host: "127.0.0.1", port: link.port, loop: loop,
                refusal: { _ in nil })
        }
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"), ("::1", "::1"),
    ]) func `An address is written as it is dialled`(_ host: String, _ text: String) throws {
        #expect(try #require(NetworkAddress(host: host, port: 1)).text == text)
    }
}
