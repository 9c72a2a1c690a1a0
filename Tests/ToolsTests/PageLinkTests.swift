import JSON
import Testing

@testable import Tools

/// What `status --link` prints.
@Suite struct PageLinkTests {
    private func link(_ host: String) throws -> PageLink {
        try #require(
            PageLink(reading: ["token": "abc", "host": .string(host), "port": 8080]) { "192.168.1.7" })
    }

    @Test(
        "The link names the machine as others reach it, and has the token behind '#'",
        arguments: [
            ("*", "http://192.168.1.7:8080/#link=abc"), ("0.0.0.0", "http://192.168.1.7:8080/#link=abc"),
            ("::", "http://192.168.1.7:8080/#link=abc"), ("192.168.1.9", "http://192.168.1.9:8080/#link=abc"),
            ("fd00::7", "http://[fd00::7]:8080/#link=abc"), ("127.0.0.1", "http://127.0.0.1:8080/#link=abc"),
        ])
    func text(host: String, text: String) throws {
        #expect(try link(host).text == text)
    }

    @Test func `A page on loopback is for this machine alone`() throws {
        #expect(try link("127.0.0.1").isForThisMachine)
        #expect(try !link("*").isForThisMachine)
    }

    @Test func `The setting that opens the page is that of its service`() throws {
        let answer: JSONValue = ["token": "abc", "host": "127.0.0.1", "port": 8081]
        #expect(PageLink(reading: answer) { "" }?.openSetting == #"http: {listen: "*:8081"}"#)
        #expect(PageLink(reading: answer, isOfRooms: true) { "" }?.openSetting == #"rooms: {http: {listen: "*:8081"}}"#)
    }

    @Test func `An answer without a token is none of a service`() {
        #expect(PageLink(reading: ["host": "*", "port": 8080]) { "" } == nil)
        #expect(PageLink(reading: ["token": "abc", "host": "*", "port": 70_000]) { "" } == nil)
    }
}
