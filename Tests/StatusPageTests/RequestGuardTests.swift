import Configuration
import System
import Testing

@testable import PageServer
@testable import StatusPage

@Suite("Who may see and who may change")
struct RequestGuardTests {
    private static let token = "a-token-of-22-letters."

    private func guardian(_ address: String = "127.0.0.1:8080", token: String? = RequestGuardTests.token) throws
        -> RequestGuard
    {
        let listen = try #require(ListenAddress(address))
        return RequestGuard(
            settings: StatusServerSettings(
                address: listen, token: token, hostNames: ["pi-kitchen", "pi-kitchen.local"]))
    }

    private func status(_ verdict: RequestGuard.Verdict) -> UInt32 {
        if case .refused(let status, _) = verdict { status } else { 200 }
    }

    @Test(
        "A browser must call the gateway by an address or a known name",
        arguments: [
            ("127.0.0.1:8080", true), ("[::1]:8080", true), ("localhost", true), ("LOCALHOST:1", true),
            ("pi-kitchen.local:8080", true), ("pi-kitchen.", true), ("192.168.1.7", true),
            ("attacker.example", false), ("127.0.0.1.attacker.example", false), ("", false), ("[::1", false),
            (":8080", false), ("localhost.attacker.example:8080", false),
        ])
    func names(host: String, isAccepted: Bool) throws {
        #expect(try guardian().accepts(host: host) == isAccepted)
    }

    @Test(
        "A change needs the token, JSON and the same origin",
        arguments: [
            // headers: host, origin, site, authorization, cookie, type; status
            (["h", nil, nil, "Bearer " + token, nil, "application/json"], 200),
            (["h", "http://localhost:8080", "same-origin", nil, "ibeacon_gateway=" + token, "application/json"], 200),
            // A proxy with TLS passes the name of the host on.
            (
                [
                    "pi-kitchen.local", "https://pi-kitchen.local", "same-origin", nil, "ibeacon_gateway=" + token,
                    "application/json",
                ], 200
            ),
            (["h", nil, nil, nil, "a=b; ibeacon_gateway=" + token, "application/json; charset=utf-8"], 200),
            (["h", nil, nil, nil, nil, "application/json"], 401),
            (["h", nil, nil, "Bearer wrong-token-of-22-lett", nil, "application/json"], 401),
            (["h", nil, nil, nil, "ibeacon_gateway=", "application/json"], 401),
            (["h", "http://evil.example", nil, "Bearer " + token, nil, "application/json"], 403),
            (["h", "http://localhost:9090", nil, "Bearer " + token, nil, "application/json"], 403),
            (["h", "null", nil, "Bearer " + token, nil, "application/json"], 403),
            (["h", nil, "cross-site", "Bearer " + token, nil, "application/json"], 403),
            (["h", nil, "same-site", "Bearer " + token, nil, "application/json"], 403),
            (["h", nil, nil, "Bearer " + token, nil, "application/x-www-form-urlencoded"], 415),
            (["h", nil, nil, "Bearer " + token, nil, nil], 415),
            (["evil.example", nil, nil, "Bearer " + token, nil, "application/json"], 421),
        ] as [([String?], UInt32)])
    func changes(headers: [String?], expected: UInt32) throws {
        let request = RequestHeaders(
            host: headers[0] == "h" ? "localhost:8080" : headers[0], origin: headers[1], fetchSite: headers[2],
            authorization: headers[3], cookie: headers[4], contentType: headers[5])
        #expect(status(try guardian().mayChange(request)) == expected)
    }

    @Test("Without a token nothing can be changed, also not with an empty one")
    func noToken() throws {
        let request = RequestHeaders(host: "localhost", authorization: "Bearer ", contentType: "application/json")
        #expect(status(try guardian(token: nil).mayChange(request)) == 403)
    }

    @Test("Beyond loopback, seeing needs the token too; the page itself does not")
    func readingFromAfar() throws {
        let remote = try guardian("0.0.0.0:8080")
        #expect(status(remote.mayRead(RequestHeaders(host: "192.168.1.7"))) == 401)
        #expect(status(remote.mayLoadPage(RequestHeaders(host: "192.168.1.7"))) == 200)
        #expect(
            status(remote.mayRead(RequestHeaders(host: "192.168.1.7", authorization: "bearer " + Self.token))) == 200)
        #expect(status(try guardian().mayRead(RequestHeaders(host: "localhost"))) == 200)
        #expect(status(try guardian().mayRead(RequestHeaders(host: "localhost", fetchSite: "cross-site"))) == 403)
    }

    @Test(
        "Through the Unix socket root and the service's user may do everything, and others read what loopback shows",
        arguments: [
            // user, is reading open, status of reading, status of a change
            (0, false, 200, 200), (999, false, 200, 200), (1000, false, 403, 403), (1000, true, 200, 403),
            (nil, true, 200, 403), (nil, false, 403, 403),
        ] as [(UInt32?, Bool, UInt32, UInt32)])
    func localUsers(user: UInt32?, isOpen: Bool, reading: UInt32, change: UInt32) {
        let guardian = RequestGuard(
            settings: StatusServerSettings(socket: LocalSocket("/s"), isReadingOpen: isOpen), owner: 999)
        // A token is of no use there.
        let request = RequestHeaders(
            host: nil, authorization: "Bearer \(Self.token)", contentType: "application/json", user: user)
        #expect(status(guardian.mayRead(request)) == reading)
        #expect(status(guardian.mayChange(request)) == change)
        #expect(status(guardian.mayLoadPage(request)) == 200)
    }

    @Test("A user at the other end of a port counts for nothing")
    func userOfAPort() throws {
        let request = RequestHeaders(host: "localhost", contentType: "application/json", user: 0)
        #expect(status(try guardian().mayChange(request)) == 401)
    }

    @Test("The cookie of another page of the machine is not this page's")
    func otherPage() throws {
        var settings = StatusServerSettings(address: try #require(ListenAddress("0.0.0.0:8081")), token: Self.token)
        settings.cookieName = "ibeacon_rooms"
        let rooms = RequestGuard(settings: settings)
        let cookies = [("ibeacon_rooms", 200), ("ibeacon_gateway", 401)] as [(String, UInt32)]
        for (name, expected) in cookies {
            let request = RequestHeaders(host: "192.168.1.7", cookie: "\(name)=\(Self.token)")
            #expect(status(rooms.mayRead(request)) == expected)
        }
    }

    @Test("Tokens are compared whole")
    func comparison() {
        #expect(RequestGuard.isEqualInConstantTime([1, 2, 3], [1, 2, 3]))
        #expect(!RequestGuard.isEqualInConstantTime([1, 2, 3], [1, 2, 4]))
        #expect(!RequestGuard.isEqualInConstantTime([1, 2, 3], [1, 2]))
    }

    @Test(
        "A token is long and can stand in a cookie",
        arguments: [
            ("0123456789abcdef", true), ("short", false), ("with a blank inside it", false),
            ("semicolon;semicolon;", false), (String(repeating: "x", count: 257), false),
        ])
    func tokens(token: String, isUsable: Bool) {
        #expect(RequestGuard.isUsable(token: token) == isUsable)
    }
}
