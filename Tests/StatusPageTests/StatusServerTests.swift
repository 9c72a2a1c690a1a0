import Base
import Configuration
import Glibc
import HostSupport
import JSON
import OwnTracks
import Status
import StatusPageSupport
import System
import TestSupport
import Testing

@testable import PageServer
@testable import StatusPage

/// A client with a plain socket, so that it can be as slow and as rude as a test needs.
private final class RawClient {
    let descriptor: CInt
    private(set) var received: [UInt8] = []
    private(set) var isClosed = false

    init(_ socket: LocalSocket) {
        descriptor = LocalSocket.make(isBlocking: false)
        _ = socket.connect(descriptor)
    }

    init(port: UInt16) {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
    }

    func receive() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { isClosed = true }
            guard count > 0 else {
                if count < 0, errno != EAGAIN { isClosed = true }
                return
            }
            received += buffer[..<count]
        }
    }

    var text: String { String(decoding: received, as: UTF8.self) }

    deinit { close(descriptor) }
}

@Suite("The server", .serialized)
struct StatusServerTests {
    private let loop = PollLoop()
    private let home: FakeHome
    private let token = "0123456789abcdefgh"

    init() { home = FakeHome(host: loop) }

    private func server(patience: Duration = .seconds(15), streams: Int = 256, connections: Int = 512) throws
        -> StatusServer
    {
        let address = try #require(ListenAddress("127.0.0.1:0"))
        var settings = StatusServerSettings(address: address, token: token)
        settings.patience = patience
        settings.streamLimit = streams
        settings.connectionLimit = connections
        return try StatusServer(settings: settings, host: loop, source: home)
    }

    private func ask(_ server: StatusServer, _ request: String) -> String {
        let client = RawClient(port: server.port)
        client.send(request)
        loop.run(atMost: .seconds(90)) {
            client.receive()
            return client.isClosed
        }
        return client.text
    }

    private func get(_ server: StatusServer, _ path: String, host: String = "localhost") -> String {
        ask(server, "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
    }

    @Test(
        "Each address answers with its type",
        arguments: [
            ("/", "text/html"), ("/page.css", "text/css"), ("/base.js", "text/javascript"),
            ("/page.js", "text/javascript"),
            ("/icon.svg", "image/svg+xml"),
            ("/status.json", "application/json"), ("/metrics", "text/plain; version=0.0.4"),
        ])
    func routes(path: String, type: String) throws {
        let answer = get(try server(), path)
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
        #expect(answer.contains("Content-Type: \(type)"))
        #expect(answer.contains("Content-Security-Policy: default-src 'none'"))
    }

    @Test("A Unix socket serves the same, knows who asks, and is gone with the server")
    func socket() throws {
        let directory = try TemporaryDirectory()
        let socket = LocalSocket(directory.file("s"))
        let server = try StatusServer(
            settings: StatusServerSettings(socket: socket, isReadingOpen: false), host: loop, source: home)
        let client = RawClient(socket)
        client.send("GET /status.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        loop.run(atMost: .seconds(90)) {
            client.receive()
            return client.isClosed
        }
        #expect(client.text.hasPrefix("HTTP/1.1 200 "), "\(client.text)")
        #expect(server.port == 0)
        server.stop()
        #expect(access(socket.path, F_OK) != 0)
    }

    @Test("A socket that another service serves is not taken from it")
    func socketInUse() throws {
        let directory = try TemporaryDirectory()
        let settings = StatusServerSettings(socket: LocalSocket(directory.file("s")), isReadingOpen: true)
        let first = try StatusServer(settings: settings, host: loop, source: home)
        #expect(throws: StatusServerError.self) { try StatusServer(settings: settings, host: loop, source: home) }
        first.stop()
    }

    @Test("The page is under 100 kB and names no other place")
    func size() {
        let files = [
            StatusPage.PackageResources.page_html, PageServer.PackageResources.page_css,
            StatusPage.PackageResources.page_js, PageServer.PackageResources.base_js,
            PageServer.PackageResources.icon_svg,
        ]
        #expect(files.reduce(0) { $0 + $1.count } < 100_000)
        for file in files {
            let text = String(decoding: file, as: UTF8.self).split(separator: "http://www.w3.org/").joined()
            #expect(!text.contains("http://") && !text.contains("https://") && !text.contains("innerHTML"))
        }
    }

    @Test("Another name, another site and unknown paths are refused")
    func refusals() throws {
        let server = try server()
        #expect(get(server, "/", host: "attacker.example").hasPrefix("HTTP/1.1 421 "))
        #expect(get(server, "/status.json", host: "attacker.example").hasPrefix("HTTP/1.1 421 "))
        #expect(get(server, "/nothing").hasPrefix("HTTP/1.1 404 "))
        #expect(
            ask(server, "DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").hasPrefix("HTTP/1.1 405 "))
    }

    private func post(_ server: StatusServer, _ path: String, _ body: String, _ headers: String = "") -> String {
        ask(
            server,
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
                + headers + "Content-Length: \(body.utf8.count)\r\n\r\n" + body)
    }

    @Test(
        "What is no position of a tracker is refused, and nothing is done",
        arguments: [#""x""#, "1e30", "-1", "0.5", "null", "true", "[0]", #""0""#, "9223372036854775808"])
    func tracker(value: String) throws {
        let server = try server()
        let authorization = "Authorization: Bearer \(token)\r\n"
        for (path, more) in [("/actions/report-location", ""), ("/regions/remove", #","rid":"x""#)] {
            let answer = post(server, path, #"{"tracker":\#(value)\#(more)}"#, authorization)
            #expect(answer.hasPrefix("HTTP/1.1 422 "))
            #expect(answer.contains("'tracker'"))
        }
        #expect(home.actions.isEmpty)
    }

    @Test(
        "Who may not change anything is answered before the body comes",
        arguments: [
            ("", "401"), ("Authorization: Bearer 0000000000000000\r\n", "401"), ("Origin: http://x\r\n", "403"),
            ("Content-Type: text/plain\r\n", "415"),
        ])
    func earlyRefusal(headers: String, status: String) throws {
        let server = try server()
        let type = headers.contains("Content-Type") ? "" : "Content-Type: application/json\r\n"
        // No byte of the body is ever sent.
        let answer = ask(
            server, "POST /regions HTTP/1.1\r\nHost: localhost\r\n\(type)\(headers)Content-Length: 60000\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    }

    @Test("A body that is too long is refused before it comes; a token is short")
    func earlyTooLong() throws {
        let server = try server()
        let authorization = "Authorization: Bearer \(token)\r\n"
        for (path, length) in [("/regions", 65_537), ("/session", 1025)] {
            let answer = ask(
                server,
                "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + authorization + "Content-Length: \(length)\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test("The body of a request that needs none is not kept")
    func bodyOfGet() throws {
        #expect(StatusServer.longestBody(method: "GET", path: "/status.json") == 0)
        #expect(StatusServer.longestBody(method: "PUT", path: "/regions") == 0)
        let body = String(repeating: "x", count: 30_000)
        let answer = ask(
            try server(),
            "GET /status.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 30000\r\n\r\n\(body)")
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
    }

    @Test("A region is made with the token and not without")
    func makesRegion() throws {
        let server = try server()
        let body = #"{"tracker":0,"waypoint":{"_type":"waypoint","desc":"Attic","uuid":"x","tst":1}}"#
        #expect(post(server, "/regions", body).hasPrefix("HTTP/1.1 401 "))
        #expect(home.actions.isEmpty)
        #expect(post(server, "/regions", body, "Authorization: Bearer \(token)\r\n").hasPrefix("HTTP/1.1 204 "))
        #expect(home.actions.count == 1)
        #expect(post(server, "/regions", "not JSON", "Authorization: Bearer \(token)\r\n").hasPrefix("HTTP/1.1 400 "))
        let long = String(repeating: " ", count: 70_000) + "{}"
        #expect(post(server, "/regions", long, "Authorization: Bearer \(token)\r\n").hasPrefix("HTTP/1.1 413 "))
    }

    @Test("What may be changed of a region is shown, and changed with the token alone")
    func changesRegion() throws {
        let server = try server()
        let rid = try #require(home.statusSnapshot().trackers.first?.regions.first?.rid)
        let shown = get(server, "/region.json?tracker=0&rid=\(rid)")
        #expect(shown.hasPrefix("HTTP/1.1 200 "))
        #expect(shown.contains("\"desc\":") && shown.contains("\"leaveAfter\":null"))
        #expect(get(server, "/region.json?tracker=0&rid=nothing").hasPrefix("HTTP/1.1 404 "))
        #expect(get(server, "/region.json?tracker=0").hasPrefix("HTTP/1.1 400 "))
        let body = #"{"tracker":0,"waypoint":{"rid":"\#(rid)","desc":"Cellar","enterRSSI":null}}"#
        #expect(post(server, "/regions/edit", body).hasPrefix("HTTP/1.1 401 "))
        #expect(home.actions.isEmpty)
        let authorization = "Authorization: Bearer \(token)\r\n"
        #expect(post(server, "/regions/edit", body, authorization).hasPrefix("HTTP/1.1 204 "))
        let waypoint = #"{"desc":"Cellar","enterRSSI":null,"rid":"\#(rid)"}"#
        #expect(home.actions == [.editRegion(tracker: 0, waypoint: waypoint)])
        #expect(post(server, "/regions/edit", #"{"waypoint":{"desc":"x"}}"#, authorization).hasPrefix("HTTP/1.1 400 "))
    }

    @Test("The card of another gateway can be looked at without the token")
    func offersCard() throws {
        let server = try server()
        let shown = get(server, "/gateway.json?room=Attic")
        #expect(shown.hasPrefix("HTTP/1.1 200 ") && shown.contains("--room 'Attic'"))
        #expect(get(server, "/gateway.json").hasPrefix("HTTP/1.1 422 "))
        #expect(get(server, "/card.js").contains("/gateway.json?"))
    }

    @Test("The token becomes a cookie that scripts cannot read")
    func session() throws {
        let server = try server()
        let answer = post(server, "/session", #"{"token":"\#(token)"}"#)
        #expect(
            answer.contains("Set-Cookie: ibeacon_gateway=\(token);") && answer.contains("HttpOnly; SameSite=Strict"))
        #expect(post(server, "/session", #"{"token":"wrong"}"#).hasPrefix("HTTP/1.1 401 "))
    }

    // MARK: The link of `status --link`

    /// The page and the socket of one service, which share the link.
    private func service(_ link: OneTimeLink, _ socket: LocalSocket) throws -> (page: StatusServer, door: StatusServer)
    {
        let address = try #require(ListenAddress("127.0.0.1:0"))
        let settings = StatusServerSettings(address: address, token: token)
        return (
            try StatusServer(settings: settings, host: loop, source: home, link: link),
            try StatusServer(
                settings: StatusServerSettings(socket: socket, isReadingOpen: true), host: loop, source: home,
                link: link)
        )
    }

    /// What a command of this machine gets that asks for a link.
    private func askLink(_ socket: LocalSocket) -> String {
        let client = RawClient(socket)
        client.send(
            "POST /link HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
                + "Content-Length: 2\r\n\r\n{}")
        loop.run(atMost: .seconds(90)) {
            client.receive()
            return client.isClosed
        }
        return client.text
    }

    private func newLink(_ socket: LocalSocket) throws -> String {
        let answer = askLink(socket)
        let body = Array(answer.drop { $0 != "{" }.utf8)
        return try #require(try JSONValue(parsing: body)["token"]?.string, "\(answer)")
    }

    @Test("A link becomes the session of the page once, and no second time")
    func linkOnce() throws {
        let directory = try TemporaryDirectory()
        let socket = LocalSocket(directory.file("s"))
        let link = OneTimeLink()
        let (page, door) = try service(link, socket)
        let body = #"{"link":"\#(try newLink(socket))"}"#
        #expect(post(page, "/session", body).contains("Set-Cookie: ibeacon_gateway=\(token);"))
        #expect(post(page, "/session", body).hasPrefix("HTTP/1.1 401 "))
        #expect(link.page?.port == page.port)
        door.stop()
    }

    @Test("A link is given at the socket alone, and not to who has the token of the page")
    func linkAtSocketAlone() throws {
        let answer = post(try server(), "/link", "{}", "Authorization: Bearer \(token)\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 404 "))
    }

    @Test("A link is worth nothing for another site, under another name, at another gateway, and after a restart")
    func linkElsewhere() throws {
        let directory = try TemporaryDirectory()
        let socket = LocalSocket(directory.file("s"))
        let (page, door) = try service(OneTimeLink(), socket)
        let secret = try newLink(socket)
        let body = #"{"link":"\#(secret)"}"#
        #expect(post(page, "/session", body, "Origin: http://evil.example\r\n").hasPrefix("HTTP/1.1 403 "))
        let renamed =
            "POST /session HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        #expect(ask(page, renamed).hasPrefix("HTTP/1.1 421 "))
        // Another gateway, and the same one after a restart, know nothing of it.
        #expect(post(try server(), "/session", body).hasPrefix("HTTP/1.1 401 "))
        // It is no token: nothing is read or changed with it.
        #expect(post(page, "/regions", "{}", "Authorization: Bearer \(secret)\r\n").hasPrefix("HTTP/1.1 401 "))
        #expect(post(page, "/session", #"{"token":"\#(secret)"}"#).hasPrefix("HTTP/1.1 401 "))
        // None of these tries has used it up.
        #expect(post(page, "/session", body).hasPrefix("HTTP/1.1 204 "))
        door.stop()
    }

    @Test("Where no page has a token, no link is made")
    func linkWithoutPage() throws {
        let directory = try TemporaryDirectory()
        let socket = LocalSocket(directory.file("s"))
        let server = try StatusServer(
            settings: StatusServerSettings(socket: socket, isReadingOpen: true), host: loop, source: home)
        #expect(askLink(socket).hasPrefix("HTTP/1.1 422 "))
        server.stop()
    }

    @Test("A watcher gets the state at once and each change soon")
    func events() throws {
        let server = try server()
        let client = RawClient(port: server.port)
        client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        func sees(_ text: String, within limit: Duration) -> Bool {
            loop.run(atMost: limit) {
                client.receive()
                return client.text.contains(text)
            }
        }
        #expect(sees("data: {", within: .seconds(90)))
        home.obey("enter b4b412")
        server.changed()
        #expect(sees(#""event":"enter""#, within: .seconds(90)))
    }

    @Test("Too many watchers are told so")
    func streamLimit() throws {
        let server = try server(streams: 1)
        let first = RawClient(port: server.port)
        first.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        loop.run(atMost: .seconds(90)) { server.streamCount == 1 }
        #expect(get(server, "/events").hasPrefix("HTTP/1.1 503 "))
        #expect(server.counters.streamsRefused == 1)
    }

    @Test("Connections beyond the limit wait, and are served when another is closed")
    func connectionLimit() throws {
        // Longer than the test takes on any machine.
        let server = try server(patience: .seconds(3600), connections: 2)
        var dawdlers = (0..<2).map { _ in RawClient(port: server.port) }
        for dawdler in dawdlers { dawdler.send("GET / HTTP/1.1\r\n") }
        loop.run(atMost: .seconds(90)) { server.counters.timesFull == 1 }
        #expect(server.counters.timesFull == 1)
        let client = RawClient(port: server.port)
        client.send("GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        loop.run(atMost: .milliseconds(300)) { false }
        client.receive()
        #expect(client.text == "")
        dawdlers.removeLast()
        let isServed = loop.run(atMost: .seconds(90)) {
            client.receive()
            return client.text.hasPrefix("HTTP/1.1 200 ")
        }
        #expect(isServed && server.counters.dropped == 0, "\(server.counters)")
    }

    @Test("Who dawdles makes room for another after a while")
    func dawdlersGo() throws {
        let server = try server(patience: .seconds(1), connections: 2)
        let dawdlers = (0..<2).map { _ in RawClient(port: server.port) }
        for dawdler in dawdlers { dawdler.send("GET / HTTP/1.1\r\n") }
        loop.run(atMost: .seconds(90)) { server.counters.timesFull == 1 }
        #expect(get(server, "/status.json").hasPrefix("HTTP/1.1 200 "))
        #expect(loop.run(atMost: .seconds(90)) { server.counters.dropped == 2 }, "\(server.counters)")
    }

    @Test("Who sends half a request, in drips, is dropped")
    func halfRequest() throws {
        let server = try server(patience: .seconds(1))
        let client = RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n")
        let isDropped = loop.run(atMost: .seconds(90)) {
            client.send("X")
            client.receive()
            return client.isClosed
        }
        #expect(isDropped)
    }

    @Test("A watcher that does not read is dropped, and the others live on")
    func slowWatcher() throws {
        let server = try server(patience: .seconds(1))
        for index in 0..<60 { home.obey("name b4b412 \(String(repeating: "n\(index % 10)", count: 100))") }
        let slow = RawClient(port: server.port)
        var small: CInt = 1
        setsockopt(slow.descriptor, SOL_SOCKET, SO_RCVBUF, &small, socklen_t(MemoryLayout<CInt>.size))
        slow.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let good = RawClient(port: server.port)
        good.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        loop.run(atMost: .seconds(90)) { server.streamCount == 2 }
        // What the kernel takes for a reader that sleeps is full after some hundred events.
        var changes = 0
        let isDropped = loop.run(atMost: .seconds(90)) {
            changes += 1
            server.changed()
            good.receive()
            return server.streamCount == 1
        }
        #expect(isDropped && !good.isClosed && server.counters.dropped == 1)
    }

    @Test("A server that stops while pages are open ends them")
    func stops() throws {
        let server = try server()
        let client = RawClient(port: server.port)
        client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        loop.run(atMost: .seconds(90)) { server.streamCount == 1 }
        loop.run(atMost: .milliseconds(100)) { false }
        server.stop()
        server.stop()
        loop.run(atMost: .seconds(90)) {
            client.receive()
            return client.isClosed
        }
        #expect(client.isClosed)
    }

    @Test(
        "Beyond loopback it does not start without a token, and nowhere with a bad one",
        arguments: [
            ("0.0.0.0:0", nil), ("[::]:0", nil), ("127.0.0.1:0", "short"), ("example.com:0", "0123456789abcdefgh"),
        ])
    func refusesToStart(address: String, token: String?) throws {
        let listen = try #require(ListenAddress(address))
        #expect(throws: StatusServerError.self) {
            try StatusServer(settings: StatusServerSettings(address: listen, token: token), host: loop, source: home)
        }
    }

    @Test("However many ask, the snapshot is taken four times a second")
    func sharesRendering() throws {
        let server = try server()
        _ = get(server, "/status.json")
        let before = home.snapshots
        let start = loop.now
        for _ in 0..<200 { _ = get(server, "/status.json") }
        let seconds = start.duration(to: loop.now).inSeconds
        #expect(home.snapshots - before <= Int(seconds * 4) + 2)
    }
}
