import Base
import Gateway
import Messaging
import OwnTracks
import ServiceSupport
import Shell
import StatusPage
import TestSupport
import Testing

@testable import GatewayApp

/// What a client that may publish on Home Assistant's topics can cause.
@Suite struct RequestFloodTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func send(_ payload: String, to fixture: ServiceFixture, topic: String = "ibeacon-gateway/hall/command") {
        fixture.availability.send(
            .message(
                ReceivedMessage(topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce, retained: false)))
        fixture.settle()
    }

    private func fixture() throws -> ServiceFixture {
        let fixture = try ServiceFixture("homeAssistant: {discovery: true}, lat: 52, lon: 6,", in: directory)
        fixture.wait(.seconds(5))
        return fixture
    }

    @Test func `The scan is restarted twice, then once in half a minute, whoever asks`() throws {
        let fixture = try fixture()
        let starts = fixture.radio.starts
        for _ in 0..<1000 { send("restart-scan", to: fixture) }
        #expect(fixture.radio.starts == starts + 2)
        let requests = fixture.service.requests
        #expect(requests.perform(StatusAction.restartScan) == .refused("the scan was restarted a moment ago"))
        fixture.wait(.seconds(31))
        #expect(requests.perform(StatusAction.restartScan) == .done)
        #expect(fixture.radio.starts == starts + 3)
    }

    @Test func `Requests that come too fast are refused and counted, then one a second is carried out`() throws {
        let fixture = try fixture()
        func reports() -> Int { fixture.broker.messages.count { $0.topic == "owntracks/jane/hall" } }
        let before = reports()
        for _ in 0..<1000 { send("report-location:0", to: fixture) }
        #expect(reports() == before + 60)
        #expect(fixture.app.core.counters.commands[.overload] == 940)
        fixture.wait(.seconds(2))
        send("report-location:0", to: fixture)
        #expect(reports() == before + 61)
    }

    @Test func `A start of Home Assistant that is published again and again is one round`() throws {
        let fixture = try fixture()
        func descriptions() -> Int { fixture.availability.messages.count { $0.topic.hasSuffix("/config") } }
        let whole = Set(fixture.availability.messages.map(\.topic).filter { $0.hasSuffix("/config") }).count
        let before = descriptions()
        for _ in 0..<500 {
            send("online", to: fixture, topic: "homeassistant/status")
            fixture.wait(.milliseconds(20))
        }
        #expect(descriptions() == before + whole)
        fixture.wait(.seconds(60))
        #expect(descriptions() == before + 2 * whole)
    }
}
