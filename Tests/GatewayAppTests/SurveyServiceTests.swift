import Advertising
import Base
import Beacon
import Health
import JSON
import Messaging
import Scanning
import ServiceSupport
import Shell
import SiteProtocol
import Status
import TestSupport
import Testing

@testable import GatewayApp

/// A gateway of a site whose gateways hear each other: what it sends, what it reports, and what it says of itself.
struct SurveyServiceTests {
    private static let uuid = BeaconUUID(high: 7, low: 8)
    private static let card = "ibeacon-rooms/home/gateway/hall"
    private static let heard = "ibeacon-rooms/home/heard/hall"
    private static let survey = SurveyBeacons(uuid: uuid, minors: ["hall": 3, "kitchen": 4])
    private static let own = BeaconID(uuid: uuid, major: 0, minor: 3)
    private static let other = BeaconID(uuid: uuid, major: 0, minor: 4)
    private static let place = AdvertisementPlace(adapter: DeviceAddress(value: 0xaa00, isRandom: false), instance: 5)
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func asks(_ fixture: ServiceFixture, _ survey: SurveyBeacons? = survey) throws {
        let uuid = try #require(BeaconUUID(ServiceFixture.uuid))
        let list = TagList(
            .init(1, "a"), [.init(uuid: uuid, major: 1, minor: 7, id: "keys", name: "Keys")], survey: survey)
        send(list.payload, to: fixture)
    }

    private func send(_ payload: [UInt8], to fixture: ServiceFixture) {
        fixture.availability.send(
            .message(
                ReceivedMessage(
                    topic: "ibeacon-rooms/home/tags", payload: payload, qos: .atLeastOnce, retained: true)))
        fixture.settle()
    }

    private func hears(_ beacon: BeaconID, _ fixture: ServiceFixture) {
        fixture.radio.output?.heard(
            Sighting(
                beacon: beacon, measuredPower: MeasuredPower(dBm: -59), rssi: RSSI(reported: -60),
                receiver: Receiver(index: 0)), at: fixture.host.now)
    }

    private func cards(_ fixture: ServiceFixture) throws -> [SurveySending?] {
        try fixture.availability.messages.filter { $0.topic == Self.card }.map {
            try FeedDecoder.card($0.payload).survey
        }
    }

    private func sending(_ fixture: ServiceFixture) {
        fixture.radio.say(.sends(adapter: 0, interval: .seconds(1), burst: nil), leaving: [Self.place])
        fixture.settle()
    }

    @Test func `Without a survey in the list nothing is sent, stored or said of it`() throws {
        let fixture = try ServiceFixture(in: directory)
        try asks(fixture, nil)
        try fixture.bringKeys()
        fixture.wait(.seconds(60))
        #expect(fixture.radio.beacon == nil && fixture.radio.sends == 0)
        #expect(try cards(fixture) == [nil])
        #expect(fixture.service.snapshot(at: fixture.host.now).ownBeacon == nil)
        #expect(try fixture.restarted().radio.removed == [])
    }

    @Test func `A gateway that is not in the survey sends nothing, and reports the others`() throws {
        let fixture = try ServiceFixture(in: directory)
        try asks(fixture, SurveyBeacons(uuid: Self.uuid, minors: ["kitchen": 4]))
        #expect(fixture.radio.beacon == nil)
        #expect(fixture.service.survey.heard == [Self.other])
    }

    @Test
    func `What it is asked for it sends, and the card and the status claim it when the controller has confirmed it`()
        throws
    {
        let fixture = try ServiceFixture(in: directory)
        try asks(fixture)
        #expect(fixture.radio.beacon == Self.own)
        #expect(fixture.service.snapshot(at: fixture.host.now).ownBeacon?.word == "asked for")
        sending(fixture)
        #expect(try cards(fixture) == [nil, .sends(minor: 3, interval: 1000)])
        let status = fixture.service.snapshot(at: fixture.host.now)
        #expect(status.ownBeacon?.word == "sent" && status.ownBeacon?.adapter == "hci0")
        #expect(status.findings.contains { $0.subject == "survey" && $0.level == .ok })
        try asks(fixture)
        #expect(fixture.radio.sends == 1, "the same list changes nothing")
        #expect(try cards(fixture).count == 2)
    }

    @Test func `A refusal is in the card, in the status and in its findings`() throws {
        let fixture = try ServiceFixture(in: directory)
        try asks(fixture)
        fixture.radio.say(.refused(ScanProblem("hci0 does not send it: no", remedy: "none")))
        fixture.settle()
        #expect(try cards(fixture).last == .refused(minor: 3, reason: "hci0 does not send it: no"))
        let status = fixture.service.snapshot(at: fixture.host.now)
        #expect(status.ownBeacon?.word == "not sent")
        let finding = try #require(status.findings.first { $0.subject == "survey" })
        #expect(finding.level == .warning && finding.text.hasSuffix("hci0 does not send it: no"))
    }

    @Test
    func `The beacons of other gateways are reported like tags, its own is not, and neither is anything else here`()
        throws
    {
        let fixture = try ServiceFixture("homeAssistant: {discovery: true},", in: directory)
        fixture.command(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[{"_type":"waypoint","rid":"all","tst":1,"desc":"All:\#(Self.uuid)"}]}}"#
        )
        try asks(fixture)
        fixture.listen()
        fixture.availability.send(
            .message(
                ReceivedMessage(
                    topic: "ibeacon-rooms/home/nearby", payload: Array(#"{"v":1,"seconds":60}"#.utf8), qos: .atMostOnce,
                    retained: false)))
        fixture.settle()
        for _ in 0..<20 {
            hears(Self.own, fixture)
            hears(Self.other, fixture)
            fixture.wait(.seconds(1))
        }
        let readings = try fixture.availability.messages.filter { $0.topic == Self.heard }.flatMap { message in
            try JSONValue(parsing: message.payload)["beacons"]?.array?.compactMap { $0["id"]?.string } ?? []
        }
        #expect(readings.count >= 19 && readings.allSatisfy { $0 == "\(Self.other)" })
        #expect(!fixture.availability.messages.contains { $0.topic.contains("/nearby/") }, "neither is a stranger")
        #expect(!fixture.transitions.contains { $0.hasSuffix("All") }, "a region is for tags and keys")
        let beacons = fixture.service.snapshot(at: fixture.host.now).beacons
        #expect(beacons.map(\.id) == [Self.other] && beacons.first?.gateway == "kitchen")
    }

    @Test func `It is sent no longer when the list names the gateway no more, is gone, or the broker is`() throws {
        let fixture = try ServiceFixture(in: directory)
        for stop in [
            { try asks(fixture, SurveyBeacons(uuid: Self.uuid, minors: ["kitchen": 4])) }, { try asks(fixture, nil) },
            { send([], to: fixture) }, { fixture.availability.lose() },
        ] as [() throws -> Void] {
            try asks(fixture)
            sending(fixture)
            #expect(fixture.radio.beacon == Self.own)
            try stop()
            fixture.settle()
            #expect(fixture.radio.beacon == nil)
        }
    }

    @Test(arguments: ["rooms: null,", "monitoring: -1,"])
    func `A reload that switches rooms off, or to quiet mode, ends it`(members: String) throws {
        let fixture = try ServiceFixture(in: directory)
        try asks(fixture)
        sending(fixture)
        try fixture.reload(members)
        fixture.wait(.seconds(11))
        #expect(fixture.radio.beacon == nil)
    }

    @Test func `A start in quiet mode sends nothing`() throws {
        let fixture = try ServiceFixture("monitoring: -1,", in: directory)
        try asks(fixture)
        #expect(fixture.radio.sends == 0)
    }

    @Test func `What a killed run has left on the air is removed by the next one, unless the machine was started anew`()
        throws
    {
        let fixture = try ServiceFixture(in: directory)
        try asks(fixture)
        sending(fixture)
        fixture.radio.say(.sends(adapter: 0, interval: .seconds(1), burst: nil), leaving: [Self.place])
        fixture.settle()
        let next = try fixture.restarted()
        #expect(next.radio.removed == [Self.place])
        // It was removed.
        next.radio.say(.off, leaving: [])
        next.settle()
        #expect(try next.restarted().radio.removed == [])
    }

    @Test func `What was left before the machine was started anew is gone`() throws {
        let fixture = try ServiceFixture(in: directory)
        try asks(fixture)
        sending(fixture)
        fixture.service.app.stop()
        let next = try ServiceFixture(in: directory, isClockKnown: false)
        #expect(next.host.bootID != fixture.host.bootID && next.radio.removed == [])
    }
}
