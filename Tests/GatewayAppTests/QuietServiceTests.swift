import Base
import Gateway
import JSON
import OwnTracks
import ServiceSupport
import Shell
import TestSupport
import Testing

@testable import GatewayApp

/// In quiet mode nothing that the service publishes tells of a tracker, whatever else is switched on.
struct QuietServiceTests {
    private static let all =
        "ranging: true, lat: 52, lon: 6, homeAssistant: {discovery: true}, rooms: {espresense: true}, reannounce: true,"
    private let directory: TemporaryDirectory
    private let read = Read()

    /// How many messages of both connections were looked at.
    private final class Read { var counts = (broker: 0, availability: 0) }

    init() throws { directory = try TemporaryDirectory() }

    /// What was published since the last call that tells of the keys: not descriptions, and no emptied topics.
    private func told(_ fixture: ServiceFixture) -> [String] {
        defer { read.counts = (fixture.broker.messages.count, fixture.availability.messages.count) }
        let new =
            fixture.broker.messages.dropFirst(read.counts.broker)
            + fixture.availability.messages.dropFirst(read.counts.availability)
        return new.compactMap { message in
            let text = String(decoding: message.payload, as: UTF8.self)
            guard !message.payload.isEmpty, !message.topic.hasSuffix("/config") else { return nil }
            let values = (try? JSONValue(parsing: message.payload)) ?? .null
            let isTelling =
                ["/event", "/beacon", "/region/keys", "/heard", "/devices"].contains(where: message.topic.contains)
                || ["home", "not_home", "inside", "outside"].contains(values["state"]?.string ?? "")
                || values["rssi"].map { $0 != .null } ?? false || values["distance"].map { $0 != .null } ?? false
            return isTelling ? "\(message.topic): \(text)" : nil
        }
    }

    @Test func `From the start, and from a reload on`() throws {
        let quiet = try ServiceFixture("monitoring: -1, \(Self.all)", in: directory)
        try quiet.bringKeys()
        quiet.wait(.seconds(700))
        #expect(told(quiet) == [])
        try quiet.reload("monitoring: 1, \(Self.all)")
        try quiet.bringKeys()
        quiet.wait(.seconds(10))
        let topics = told(quiet)
        for part in ["/event", "/region/keys", "/presence/", "/signal/keys"] {
            #expect(topics.contains { $0.contains(part) }, "\(part): \(topics)")
        }
        try quiet.reload("monitoring: -1, \(Self.all)")
        quiet.wait(.seconds(10))
        _ = told(quiet)
        try quiet.bringKeys()
        quiet.wait(.seconds(700))
        #expect(told(quiet) == [])
    }

    @Test func `One tracker of two`() throws {
        let fixture = try ServiceFixture("\(Self.all) trackers: [{deviceId: \"anna\"}],", in: directory)
        try fixture.bringKeys()
        fixture.app.handle(.request(.setMonitoring(tracker: 1, .quiet)), at: fixture.host.now)
        fixture.wait(.seconds(10))
        _ = told(fixture)
        fixture.wait(.seconds(100))
        try fixture.bringKeys()
        let topics = told(fixture)
        #expect(topics.contains { $0.contains("/hall/event") })
        #expect(!topics.contains { $0.contains("anna") }, "\(topics)")
    }
}
