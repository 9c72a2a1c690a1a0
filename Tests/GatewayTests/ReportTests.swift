import Base
import Configuration
import JSON
import OwnTracks
import Testing

@testable import Gateway

/// What `report` publishes of the state that a gateway stored: it does not listen.
@Suite struct ReportTests {
    /// The location by hand.
    private func location(after house: GatewayHarness) throws -> JSONValue {
        let kept = try #require(KeptPresence(bytes: house.storedWhole, changes: house.storedChanges))
        let configuration = house.gateway.configuration
        var gateway = Gateway(
            configuration: configuration, wallClock: house.gateway.wallClock, explainsTransitions: false)
        let stored = StoredState(
            configuration: configuration, regions: house.gateway.trackers.map(\.regions),
            presence: .reported(by: kept, of: configuration.trackers.map(\.topics.base)))
        _ = gateway.handle(.start(stored), at: .zero)
        let published = gateway.handle(.request(.reportLocation(tracker: 0)), at: house.now).compactMap { effect in
            if case .publish(let message) = effect { message } else { nil }
        }
        return try JSONValue(parsing: try #require(published.first).payload)
    }

    @Test(arguments: [0, 30])
    func `Who is inside, and so where the tracker is, is known from the stored presence, without a history, too`(
        days: Int
    ) throws {
        var house = try GatewayHarness(
            "lat: 52, lon: 6, away: {lat: 1, lon: 2}, days: \(days), waypoints: [\(MessageTableTests.regions)]")
        try house.hear()
        let inside = try location(after: house)
        #expect(inside["t"] == "u" && inside["lat"] == 52)
        #expect(inside["inregions"] == ["Kitchen", "Home"])
        house.wait(61)
        let outside = try location(after: house)
        #expect(outside["lat"] == 1)
        #expect(outside["inregions"] == [])
    }
}
