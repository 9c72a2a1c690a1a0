import Base
import Testing

@testable import PageServer

/// The link of `status --link`.
@Suite struct OneTimeLinkTests {
    private let link = OneTimeLink()
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    private func use(_ token: String, after delay: Duration) -> Bool {
        link.exchange(token.utf8, at: start.advanced(by: delay))
    }

    @Test func `A link is exchanged once`() {
        let token = link.issue(at: start)
        #expect(use(token, after: .seconds(1)))
        #expect(!use(token, after: .seconds(2)))
    }

    @Test func `A link may be used for ten minutes`() {
        #expect(use(link.issue(at: start), after: .seconds(599)))
        let late = link.issue(at: start)
        #expect(!use(late, after: .seconds(600)))
        #expect(!use(late, after: .seconds(1)), "a link that was late once does not come back")
    }

    @Test func `A wrong guess gets nothing, and the link stays`() {
        let token = link.issue(at: start)
        for guess in ["", String(token.dropLast()), token + "0", String(repeating: "0", count: 32)] {
            #expect(!use(guess, after: .seconds(1)))
        }
        #expect(use(token, after: .seconds(1)))
    }

    @Test func `A newer link replaces the older one`() {
        let (older, newer) = (link.issue(at: start), link.issue(at: start))
        #expect(older != newer)
        #expect(!use(older, after: .seconds(1)))
        #expect(use(newer, after: .seconds(1)))
    }

    @Test func `Where no link was made, nothing is exchanged`() {
        #expect(!use("", after: .seconds(1)))
        #expect(!OneTimeLink().exchange([], at: start))
    }

    @Test func `The token has 32 hexadecimal digits`() {
        let token = link.issue(at: start)
        #expect(token.utf8.count == 32)
        #expect(token.allSatisfy { "0123456789abcdef".contains($0) })
    }
}
