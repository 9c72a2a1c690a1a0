import Base
import HTTPMessaging
import Testing

/// The order in which messages are posted, in virtual time.
@Suite struct PostQueueTests {
    /// A server of the test, for which a message is its token.
    private struct Course {
        var queue = PostQueue(limit: 256)
        var now = MonotonicInstant(nanoseconds: 0)
        var tried: [Int64] = []
        var accepted: [Int64] = []
        var outcomes: [PostQueue.Outcome] = []

        init(_ tokens: ClosedRange<Int64>) {
            for token in tokens { _ = queue.append(Self.post(token)) }
        }

        static func post(_ token: Int64) -> HTTPPost {
            HTTPPost(token: token, name: "t/\(token)", body: [], sender: HTTPSender(user: "u", device: "d"))
        }

        /// One round: until nothing is left, or the queue wants a pause.
        mutating func round(_ accepts: (Int64) -> Bool) {
            while let message = queue.next(at: now) {
                tried.append(message.token)
                if accepts(message.token) {
                    queue.accepted(message.token)
                    accepted.append(message.token)
                } else {
                    let (outcomes, goesOn) = queue.failed(message.token, at: now)
                    self.outcomes += outcomes
                    if !goesOn { return queue.endRound() }
                }
            }
        }

        mutating func rounds(_ count: Int, _ accepts: (Int64) -> Bool) {
            for _ in 0..<count { round(accepts) }
        }
    }

    @Test func `A message that fails is the next one, and no other is tried before it has failed six times`() {
        var course = Course(1...3)
        course.rounds(5) { $0 != 1 }
        #expect(course.tried == [1, 1, 1, 1, 1])
        #expect(course.accepted.isEmpty)
    }

    @Test func `It steps aside when a later one was accepted and it still is not`() {
        var course = Course(1...3)
        course.rounds(6) { $0 != 1 }
        #expect(course.tried == [1, 1, 1, 1, 1, 1, 2, 1, 3])
        #expect(course.outcomes == [.steppedAside(Course.post(1), failures: 7)])
    }

    @Test func `It keeps its place if the server accepts it after the later one`() {
        var course = Course(1...3)
        course.rounds(5) { _ in false }
        var isBack = false
        course.round { token in
            defer { if token == 1 { isBack = true } }
            return isBack
        }
        #expect(course.accepted == [2, 1, 3])
        #expect(course.outcomes.isEmpty)
    }

    @Test(arguments: [1, 2, 10, 100])
    func `Where the server accepts none, the order stays, however long it lasts`(rounds: Int) {
        var course = Course(1...6)
        course.rounds(rounds) { _ in false }
        #expect(course.outcomes.isEmpty)
        course.round { _ in true }
        #expect(course.accepted == [1, 2, 3, 4, 5, 6])
    }

    /// The tokens of the messages that stepped aside.
    private func aside(_ course: Course) -> [Int64] {
        course.outcomes.compactMap { outcome in
            guard case .steppedAside(let post, _) = outcome else { return nil }
            return post.token
        }
    }

    @Test(arguments: [2, 3, 4, 5, 20] as [Int64])
    func `Several messages one after the other that are not accepted do not stop the one behind them`(bad: Int64) {
        var course = Course(1...bad + 2)
        course.rounds(200) { $0 > bad }
        #expect(course.accepted == [bad + 1, bad + 2])
        // The last of them may have nothing behind it that shows that the server accepts others.
        _ = course.queue.append(Course.post(bad + 3))
        course.rounds(20) { $0 > bad }
        #expect(course.accepted == [bad + 1, bad + 2, bad + 3])
        #expect(aside(course) == Array(1...bad))
        #expect(!course.queue.hasWaiting)
    }

    @Test func `A message that stepped aside is tried once an hour, and accepted when the server takes it`() {
        var course = Course(1...2)
        course.rounds(6) { $0 != 1 }
        course.tried = []
        course.now = course.now.advanced(by: PostQueue.recess - .seconds(1))
        course.round { $0 != 1 }
        #expect(course.tried.isEmpty)
        course.now = course.now.advanced(by: .seconds(1))
        course.round { $0 != 1 }
        #expect(course.tried == [1])
        #expect(course.queue.due == course.now.advanced(by: PostQueue.recess))
        course.now = course.now.advanced(by: PostQueue.recess)
        course.round { _ in true }
        #expect(course.tried == [1, 1])
        #expect(course.queue.due == nil)
    }

    @Test func `Beyond the limit of those that stepped aside the oldest is given up, and named`() {
        let count = Int64(PostQueue.mostAside) + 1
        var course = Course(1...count + 1)
        course.rounds(400) { $0 > count }
        #expect(course.accepted == [count + 1])
        _ = course.queue.append(Course.post(count + 2))
        course.rounds(20) { $0 > count }
        #expect(aside(course) == Array(1...count))
        #expect(course.outcomes.last == .givenUp(Course.post(1)))
    }

    @Test func `The queue is bounded`() {
        var queue = PostQueue(limit: 2)
        let taken = (1...3).map { queue.append(Course.post($0)) }
        #expect(taken == [true, true, false])
    }
}
