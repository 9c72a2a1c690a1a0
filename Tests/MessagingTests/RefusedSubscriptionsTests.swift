import Base
import Testing

@testable import Messaging

@Suite struct RefusedSubscriptionsTests {
    private func instant(_ seconds: Int) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }

    @Test func `A refused subscription is requested again after 2, 4, 8 and at most 600 seconds`() {
        var refused = RefusedSubscriptions()
        let isNews = refused.refused("a", at: instant(0))
        #expect(isNews)
        var (tries, second) = ([Int](), 0)
        while second < 5000 {
            second += 1
            guard refused.due(at: instant(second), wanted: ["a"]) == ["a"] else { continue }
            tries.append(second)
            let isNews = refused.refused("a", at: instant(second))
            #expect(!isNews)
        }
        #expect(tries.prefix(4) == [2, 6, 14, 30])
        #expect(zip(tries, tries.dropFirst()).map { $1 - $0 }.max() == 600)
    }

    @Test func `What was granted, or is not wanted any more, is not requested again`() {
        var refused = RefusedSubscriptions()
        for filter in ["a", "b", "c"] { _ = refused.refused(filter, at: instant(0)) }
        refused.granted("a")
        let due = [2, 1000].map { refused.due(at: instant($0), wanted: ["a", "b"]) }
        #expect(due == [["b"], []], "b is not due again until it is refused again")
    }
}
