import Storage
import Testing

@testable import Shell

/// What the outbox may deliver, and what it delivers again.
@Suite struct DeliveryTests {
    @Test func `More messages may be on their way while the broker refuses some`() {
        var delivery = Delivery()
        _ = delivery.turn(on: true, isRefused: false)
        #expect(delivery.window == Delivery.usualWindow)
        _ = delivery.turn(on: true, isRefused: true)
        #expect(delivery.window == Delivery.wideWindow)
        _ = delivery.turn(on: false, isRefused: true)
        #expect(delivery.window == 0)
    }

    @Test func `What a connection left unfinished is delivered again once, on the next one`() {
        var delivery = Delivery()
        #expect(delivery.redelivery() == nil)
        delivery.connectionWasLeft()
        guard case .redeliver(generation: 1)? = delivery.redelivery() else {
            Issue.record("nothing is delivered again")
            return
        }
        #expect(delivery.redelivery() == nil)
    }

    @Test func `A message besides the outbox has a token that no message of the outbox has`() {
        var delivery = Delivery()
        #expect([delivery.nextToken(), delivery.nextToken()] == [-1, -2])
    }
}
