import Base
import Configuration
import Regions
import Testing

@testable import Gateway

/// What is announced to whom, and in which turns.
@Suite struct AnnouncerTests {
    private var fixture: PartsFixture
    private var announcer = Announcer()

    init() throws { fixture = try PartsFixture(regions: 300) }

    /// The number of messages among effects.
    private func count(_ effects: [Gateway.Effect]) -> Int {
        effects.count { if case .publish = $0 { true } else { false } }
    }

    private mutating func connect(isNew: Bool, at seconds: Int) -> (count: Int, hasLostMessages: Bool) {
        let (effects, hasLost) = announcer.connected(
            isNewSession: isNew, fixture.trackers, by: fixture.messages(at: seconds))
        return (count(effects), hasLost)
    }

    private mutating func homeAssistantStarts(at seconds: Int) -> Int {
        count(announcer.homeAssistantStarted(fixture.trackers, by: fixture.messages(at: seconds)))
    }

    /// Everything that is due until then.
    private mutating func publishDue(until seconds: Int) -> Int {
        var messages = 0
        for second in 0...seconds {
            while let due = announcer.due, due <= PartsFixture.at(second) {
                let making = fixture.messages(at: second)
                messages += count(announcer.publishDueRounds(of: fixture.trackers, by: making))
                messages += count(announcer.publishDueRegions(of: fixture.trackers, by: making))
            }
        }
        return messages
    }

    @Test mutating func `The first connection announces all states, one turn at once`() throws {
        #expect(connect(isNew: false, at: 1) == (250, false))
        #expect(publishDue(until: 2) == 50)
        #expect(announcer.due == nil)
    }

    @Test mutating func `A later connection announces nothing, unless its session is new`() throws {
        _ = connect(isNew: true, at: 1)
        _ = publishDue(until: 2)
        #expect(connect(isNew: false, at: 3) == (0, false))
        #expect(connect(isNew: true, at: 4) == (250, true))
    }

    @Test mutating func `However often Home Assistant starts, the next round waits for half a minute`() throws {
        #expect(homeAssistantStarts(at: 1) == 250)
        #expect(homeAssistantStarts(at: 2) == 0)
        #expect(publishDue(until: 30) == 50)
        #expect(publishDue(until: 32) == 300)
        #expect(publishDue(until: 90) == 0)
    }

    @Test mutating func `When the service ends, no state is published: the next start publishes all`() throws {
        let region = try #require(fixture.trackers[0].regions.regions.first)
        let device = fixture.trackers[0].configuration.deviceID
        _ = announcer.publish(
            (0..<300).map { .state(tracker: 0, rid: "r\($0)") }
                + [.withdrawal(device: device, tracker: 0, rid: region.rid)],
            of: fixture.trackers, by: fixture.messages(at: 2))
        #expect(count(announcer.publishLast(of: fixture.trackers, by: fixture.messages(at: 2))) == 1)
    }
}
