import Base
import Testing

@Suite struct RateLimitsTests {
    private func at(_ seconds: Int) -> MonotonicInstant { .zero.advanced(by: .seconds(100 + seconds)) }

    @Test func `A bucket admits its content at once, then one in each period, and fills up while nothing comes`() {
        var bucket = RateBucket(capacity: 5, period: .seconds(2))
        func admitted(_ seconds: [Int]) -> Int { seconds.count { bucket.admits(at: at($0)) } }
        let counts = [
            admitted(Array(repeating: 0, count: 10)), admitted([1]), admitted(Array(2..<22)),
            admitted(Array(repeating: 1000, count: 10)),
        ]
        #expect(counts == [5, 0, 10, 5])
    }

    @Test func `A bucket holds one at least`() {
        var bucket = RateBucket(capacity: 0, period: .seconds(1))
        let admitted = [0, 0, 1].map { bucket.admits(at: at($0)) }
        #expect(admitted == [true, false, true])
    }

    @Test func `A round begins at once, and the next one after the pause, once for all requests`() {
        var rounds = RoundLimit(pause: .seconds(30))
        let early = rounds.begin(at: at(0))
        let wanted = [0, 1, 29].map { rounds.want(at: at($0)) }
        #expect(!early && wanted == [true, false, false])
        #expect(rounds.due == at(30))
        let begun = [29, 30, 31].map { rounds.begin(at: at($0)) }
        #expect(begun == [false, true, false])
        #expect(rounds.due == nil)
        let later = [59, 60].map { rounds.want(at: at($0)) }
        #expect(later == [false, true])
    }
}
