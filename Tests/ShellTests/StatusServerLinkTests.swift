import Base
import Configuration
import JSON
import PageServer
import Runtime
import ServiceSupport
import Shell
import Testing

/// The attempts to open the page.
struct StatusServerLinkTests {
    /// A page without content.
    private final class EmptyPage: PageSource {
        let pageFiles: [PageFile] = []
        func pageState() -> JSONValue { [:] }
        func pageMetrics(_ clients: ClientCounters) -> String { "" }
        func read(_ request: PageRequest) -> PageAnswer? { nil }
        func change(_ path: String, _ body: JSONValue) -> PageAnswer? { nil }
    }

    @Test func `An address that this machine does not have yet is tried again and again with one timer`() throws {
        let host = ServiceHostDouble()
        let link = StatusServerLink(loop: try EventLoop(), log: Log(threshold: .error), host: host)
        // An address for documentation (RFC 5737).
        let address = try #require(ListenAddress("203.0.113.1:8080"))
        try link.open(StatusServerSettings(address: address, token: "a-token-of-22-letters."), source: EmptyPage())
        for _ in 1...100 {
            host.now = try #require(host.nextDue)
            host.fireDueTimers()
        }
        #expect(host.timerCount == 1)
        link.close()
        #expect(host.timerCount == 0)
    }
}
