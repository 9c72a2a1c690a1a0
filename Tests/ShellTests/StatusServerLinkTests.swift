import Base
import Configuration
import JSON
import PageServer
import Runtime
import ServiceSupport
import Shell
import TestSupport
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
        let problem = try #require(link.pageProblem)
        #expect(problem.text.hasPrefix("the status page cannot listen on 203.0.113.1:8080: "))
        #expect(problem.remedy.contains("this machine does not have that address"))
        for _ in 1...100 {
            host.now = try #require(host.nextDue)
            host.fireDueTimers()
        }
        #expect(host.timerCount == 1)
        link.close()
        #expect(host.timerCount == 0)
    }

    @Test func `A page that is served at last has no problem any more`() throws {
        let host = ServiceHostDouble()
        let links = try (1...2).map { _ in
            StatusServerLink(loop: try EventLoop(), log: Log(threshold: .error), host: host)
        }
        let address = try #require(ListenAddress("127.0.0.1:\(try LoopbackPort.free())"))
        for link in links {
            try link.open(StatusServerSettings(address: address, token: nil), source: EmptyPage())
        }
        #expect(links[0].pageProblem == nil)
        let problem = try #require(links[1].pageProblem)
        #expect(problem.text == "the status page cannot listen on \(address): Address already in use")
        #expect(problem.remedy.contains("sudo ss -ltnp 'sport = :\(address.port)' names it"), "\(problem.remedy)")
        links[0].close()
        host.now = try #require(host.nextDue)
        host.fireDueTimers()
        #expect(links[1].pageProblem == nil)
        links[1].close()
    }
}
