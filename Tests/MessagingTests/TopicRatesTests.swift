import Base
import Testing

@testable import Messaging

/// What is taken of a flood on the broker's thread.
struct TopicRatesTests {
    private func rates(perTopic: Int? = 3, transient: Int = 100) -> TopicRates {
        var limits = BrokerSettings.QueueLimits()
        (limits.perTopicAndSecond, limits.transientPerSecond) = (perTopic, transient)
        return TopicRates(limits)
    }

    private func instant(_ milliseconds: Int) -> MonotonicInstant {
        .zero.advanced(by: .seconds(100)).advanced(by: .milliseconds(milliseconds))
    }

    @Test func `The flood of one topic takes nothing from another`() {
        var rates = rates()
        let flood = (1...1000).count { rates.admits("heard/flood", isTransient: true, at: instant($0 / 2)) }
        #expect(flood == 3)
        let isHeard = rates.admits("heard/kitchen", isTransient: true, at: instant(600))
        let isCard = rates.admits("gateway/kitchen", isTransient: false, at: instant(600))
        #expect(isHeard && isCard)
    }

    @Test func `Each second begins anew`() {
        var rates = rates()
        let taken = (0..<30).count { rates.admits("a", isTransient: false, at: instant($0 * 100)) }
        #expect(taken == 9)
    }

    @Test func `Readings on any number of topics leave cards and commands alone`() {
        var rates = rates()
        let flood = (1...1000).count { rates.admits("heard/\($0)", isTransient: true, at: instant(0)) }
        #expect(flood == 100)
        let cards = (1...1000).count { rates.admits("gateway/\($0)", isTransient: false, at: instant(0)) }
        #expect(cards == 1000)
    }

    @Test func `Without a limit everything is taken`() {
        var rates = rates(perTopic: nil, transient: 1)
        let taken = (1...1000).count { _ in rates.admits("cmd", isTransient: true, at: instant(0)) }
        #expect(taken == 1000)
    }
}
