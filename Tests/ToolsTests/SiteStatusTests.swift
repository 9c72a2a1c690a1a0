import JSON
import Testing

@testable import Tools

/// What `rooms gateways` says of a gateway, from what the broker retains.
@Suite struct SiteStatusTests {
    private static let root = "ibeacon-rooms/home/"

    /// The state of the gateway `attic`, beside an active service or none.
    private func state(isActive: Bool, health: String? = nil) throws -> String {
        var retained = [Self.root + "gateway/attic": #"{"v":1,"room":"Attic"}"#]
        retained[Self.root + "service/a"] = #"{"v":1,"active":\#(isActive),"counter":1,"version":"1"}"#
        retained[Self.root + "health/attic"] = health
        let status = SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
        return try #require(status.gateways.first).state
    }

    @Test func `A gateway with a card of which the active service publishes nothing has no readings`() throws {
        #expect(try state(isActive: true) == "no readings")
        #expect(try state(isActive: false) == "unknown")
        let health = #"{"v":1,"room":"Attic","listening":true,"problem":null}"#
        #expect(try state(isActive: true, health: health) == "listening")
    }
}
