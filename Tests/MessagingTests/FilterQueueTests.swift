import Base
import Testing

@testable import Messaging

@Suite struct FilterQueueTests {
    private static func instant(_ seconds: Double) -> MonotonicInstant { .zero.advanced(by: .seconds(seconds)) }

    @Test func `One filter is requested after the other, each once the one before is answered`() {
        var queue = FilterQueue()
        queue.add(["b", "a", "c"])
        var requested: [String] = []
        for number in 1...3 as ClosedRange<Int32> {
            guard let filter = queue.next(at: .zero) else { break }
            requested.append(filter)
            queue.sent(filter, messageID: number, at: .zero)
            let early = queue.next(at: .zero)
            #expect(early == nil && queue.suspect(at: Self.instant(2)) == filter)
            #expect(queue.suspect(at: Self.instant(2.1)) == nil)
            let answered = queue.answered(number)
            #expect(answered == filter)
        }
        #expect(requested == ["a", "b", "c"] && queue.isEmpty && queue.suspect(at: .zero) == nil)
    }

    @Test func `A request without an answer holds up the next one for five seconds`() {
        var queue = FilterQueue()
        queue.add(["a", "b"])
        let first = queue.next(at: .zero)
        queue.sent(first ?? "", messageID: 1, at: .zero)
        let early = queue.next(at: Self.instant(4.9))
        let late = queue.next(at: Self.instant(5))
        #expect(early == nil && late == "b")
        queue.sent("b", messageID: 2, at: Self.instant(5))
        #expect(queue.suspect(at: Self.instant(5)) == nil, "either may be the reason")
    }

    @Test func `What is requested already or not wanted any more is not requested`() {
        var queue = FilterQueue()
        queue.add(["a", "b"])
        let first = queue.next(at: .zero)
        queue.sent(first ?? "", messageID: 1, at: .zero)
        queue.add(["a", "c"])
        queue.remove(["b"])
        _ = queue.answered(1)
        let second = queue.next(at: .zero)
        queue.sent(second ?? "", messageID: 2, at: .zero)
        _ = queue.answered(2)
        #expect(second == "c" && queue.isEmpty)
    }

    @Test func `A filter that ended the connection rests, each time for twice as long`() {
        var fatal = FatalFilters()
        var now = 0.0
        for pause in [600.0, 1200, 2400] {
            fatal.suspect("f", at: Self.instant(now))
            let proven = fatal.accepted()
            #expect(proven == "f")
            #expect(!fatal.admits("f", at: Self.instant(now + pause - 1)))
            #expect(fatal.due(at: Self.instant(now + pause), wanted: ["f"]) == ["f"])
            #expect(fatal.due(at: Self.instant(now + pause), wanted: []).isEmpty)
            now += pause
        }
        fatal.answered("f")
        #expect(fatal.admits("f", at: Self.instant(now)))
        #expect(fatal.due(at: Self.instant(1e6), wanted: ["f"]).isEmpty)
    }

    @Test func `No filter is the reason if the broker is away afterwards`() {
        var fatal = FatalFilters()
        fatal.suspect("f", at: .zero)
        fatal.attemptFailed()
        let proven = fatal.accepted()
        #expect(proven == nil && fatal.admits("f", at: .zero))
    }
}
