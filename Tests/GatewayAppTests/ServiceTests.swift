import Base
import Beacon
import CFaultVFS
import Configuration
import Gateway
import Glibc
import Identities
import JSON
import Messaging
import OwnTracks
import Regions
import Runtime
import Scanning
import ServiceSupport
import Shell
import Status
import StatusPage
import Storage
import System
import TestSupport
import Testing

@testable import GatewayApp

/// The wiring of the service, in virtual time.
struct ServiceTests {
    // MARK: - Another name of the gateway

    private static let discovery = "homeAssistant: {discovery: true}, "

    /// What the broker retains on the connection of the availability, by topic.
    private func retained(_ fixtures: ServiceFixture...) -> [String: [UInt8]] {
        var all: [String: [UInt8]] = [:]
        for fixture in fixtures { all.merge(fixture.retained) { $1 } }
        return all.filter { !$0.value.isEmpty }
    }

    /// The broker sends what it retains of the former name.
    private func sendRetained(_ retained: [String: [UInt8]], to fixture: ServiceFixture, device: String = "hall") {
        for (topic, payload) in retained.sorted(by: { $0.key < $1.key })
        where topic.contains("/ibeacon-gateway-\(device)/") || topic == "ibeacon-gateway/\(device)/availability" {
            fixture.availability.send(
                .message(ReceivedMessage(topic: topic, payload: payload, qos: .atLeastOnce, retained: true)))
        }
        fixture.settle()
    }

    /// Topics of Home Assistant that name a device.
    private func topics(of device: String, in retained: [String: [UInt8]]) -> [String] {
        retained.keys.filter {
            $0.contains("/ibeacon-gateway-\(device)/") || $0.hasPrefix("ibeacon-gateway/\(device)/")
        }.sorted()
    }

    @Test func `A gateway that gets another name by a restart empties what it had announced in Home Assistant`() throws
    {
        let fixture = try ServiceFixture(Self.discovery, in: directory)
        try fixture.bringKeys()
        fixture.wait(.seconds(20))
        #expect(topics(of: "hall", in: retained(fixture)).count > 15)
        let renamed = try fixture.restarted(Self.discovery, device: "attic")
        #expect(renamed.availability.filters.contains("homeassistant/+/ibeacon-gateway-hall/+/config"))
        sendRetained(retained(fixture), to: renamed)
        renamed.wait(.seconds(30))
        let left = retained(fixture, renamed)
        #expect(topics(of: "hall", in: left).filter { !$0.contains("/region/") } == [])
        #expect(topics(of: "attic", in: left).count > 15)
        #expect(!renamed.availability.filters.contains("homeassistant/+/ibeacon-gateway-hall/+/config"))
    }

    @Test func `A gateway that gets another name by a reload empties what it had announced in Home Assistant`() throws {
        let fixture = try ServiceFixture(Self.discovery, in: directory)
        try fixture.bringKeys()
        fixture.wait(.seconds(20))
        #expect(topics(of: "hall", in: retained(fixture)).count > 15)
        try fixture.reload(Self.discovery, device: "attic")
        #expect(fixture.availability.filters.contains("homeassistant/+/ibeacon-gateway-hall/+/config"))
        sendRetained(retained(fixture), to: fixture)
        fixture.wait(.seconds(60))
        let left = retained(fixture)
        #expect(topics(of: "hall", in: left).filter { !$0.contains("/region/") } == [])
        #expect(topics(of: "attic", in: left).count > 15)
    }

    @Test func `A former name waits for a connection over restarts, and a copied card removes nothing`() throws {
        let fixture = try ServiceFixture(Self.discovery, in: directory)
        fixture.wait(.seconds(20))
        let renamed = try fixture.restarted(Self.discovery, device: "attic")
        // The broker does not come back before the next restart.
        let later = try renamed.restarted(Self.discovery, device: "attic")
        #expect(later.availability.filters.contains("homeassistant/+/ibeacon-gateway-hall/+/config"))
        // A name that the gateway has again is its own.
        let back = try later.restarted(Self.discovery)
        #expect(!back.availability.filters.contains { $0.contains("-attic/") && $0.contains("-hall/") })
        #expect(back.availability.filters.contains("homeassistant/+/ibeacon-gateway-attic/+/config"))
        back.wait(.seconds(30))
        let copy = try back.restarted(Self.discovery, device: "copy", hardware: "hardware-2")
        #expect(!copy.availability.filters.contains { $0.contains("ibeacon-gateway-hall/+/config") })
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func `Start opens every link, and the service manager is told when the store is open`() throws {
        let fixture = try ServiceFixture(in: directory)
        #expect(fixture.radio.isStarted)
        #expect(fixture.store.isOpen)
        #expect(fixture.broker.isConnected)
        #expect(fixture.availability.isConnected)
        #expect(fixture.status.source != nil)
        #expect(fixture.host.reports == [.ready(status: "1 region, 0 messages waiting")])
        #expect(fixture.broker.filters.sorted() == ["owntracks/jane/hall/cmd"])
    }

    @Test func `Availability is online after the start and offline after the stop`() throws {
        let fixture = try ServiceFixture(in: directory)
        fixture.service.app.stop()
        let states = fixture.availability.messages.filter { $0.topic == "ibeacon-gateway/hall/availability" }
        #expect(states.map { String(decoding: $0.payload, as: UTF8.self) } == ["online", "offline"])
    }

    @Test func `A beacon that comes and goes is published as one enter and one leave`() throws {
        let fixture = try ServiceFixture(in: directory)
        try fixture.bringKeys()
        #expect(fixture.transitions == ["enter Keys"])
        fixture.wait(.seconds(120))
        #expect(fixture.transitions == ["enter Keys", "leave Keys"])
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `Transitions wait in the outbox while the broker is away, and follow in order`() throws {
        let fixture = try ServiceFixture(in: directory)
        fixture.broker.lose()
        fixture.settle()
        try fixture.bringKeys()
        fixture.wait(.seconds(120))
        #expect(fixture.transitions.isEmpty)
        #expect((fixture.store.counters?.outboxRows ?? 0) > 0)
        fixture.broker.restore()
        fixture.wait(.seconds(10))
        #expect(fixture.transitions == ["enter Keys", "leave Keys"])
        #expect(fixture.store.counters?.outboxRows == 0)
    }

    @Test func `Where a connection has other limits than the one before, all states are published again, once`() throws
    {
        let fixture = try ServiceFixture(in: directory)
        try fixture.bringKeys()
        let topic = "ibeacon-gateway/hall/region/"
        func states() -> Int { fixture.broker.messages.count { $0.topic.hasPrefix(topic) } }
        func reconnect(_ limits: BrokerLimits) {
            fixture.broker.lose()
            fixture.settle()
            fixture.broker.send(.limited(limits))
            fixture.settle()
            fixture.broker.restore()
            fixture.wait(.seconds(5))
        }
        let before = states()
        reconnect(.none)
        #expect(states() == before)
        reconnect(BrokerLimits(highestQoS: .atMostOnce))
        #expect(states() == before + 1)
        reconnect(BrokerLimits(highestQoS: .atMostOnce))
        #expect(states() == before + 1)
        reconnect(.none)
        #expect(states() == before + 2)
    }

    @Test func `A transition during a disk failure is published once, when the disk writes again`() throws {
        let disk = FaultyDisk()
        let fixture = try ServiceFixture(in: directory, vfs: disk.name)
        disk.set(failing: true)
        try fixture.bringKeys()
        #expect(fixture.transitions.isEmpty)
        #expect(fixture.status.source?.statusSnapshot().store.problem != nil)
        disk.set(failing: false)
        fixture.wait(.seconds(60))
        #expect(fixture.transitions.first == "enter Keys")
        #expect(fixture.transitions.count { $0 == "enter Keys" } == 1)
        #expect(fixture.status.source?.statusSnapshot().store.problem == nil)
    }

    @Test(arguments: [(false, ExitCode.ok), (true, .inputOutput)])
    func `A stop tells the service manager whether all is on the disk`(isFull: Bool, code: ExitCode) throws {
        let disk = FaultyDisk()
        let fixture = try ServiceFixture(in: directory, vfs: disk.name)
        fixture.listen()
        disk.set(failing: isFull)
        try fixture.bringKeys()
        fixture.app.stop()
        #expect(fixture.host.exitCode == code)
    }

    @Test func `A request that changes nothing is refused with the reason of the log`() throws {
        let fixture = try ServiceFixture(in: directory)
        let source = try #require(fixture.status.source)
        #expect(
            source.perform(.reportLocation(tracker: 0))
                == .refused("no location is published: the place of this gateway is not set (lat, lon)"))
        #expect(source.perform(.reportLocation(tracker: 7)) == .refused("there is no such tracker"))
        try fixture.reload("lat: 48.2, lon: 16.4,")
        #expect(source.perform(.reportLocation(tracker: 0)) == .done)
    }

    @Test func `A reload with another broker makes a new connection, and with the same one does not`() throws {
        let fixture = try ServiceFixture(in: directory)
        try fixture.reload("tag: \"here\",")
        #expect(fixture.broker.connections == 1)
        try fixture.reload("host: \"other\",")
        #expect(fixture.broker.connections == 2)
        #expect(fixture.broker.settings?.hosts == ["other"])
        #expect(fixture.broker.isConnected)
        #expect(fixture.host.reports.suffix(2) == [.reloading, .reloaded])
    }

    @Test func `Settings that need a restart keep their running values, beside those that a reload takes`() throws {
        let fixture = try ServiceFixture(in: directory)
        try fixture.reload("http: {listen: \"127.0.0.1:8099\"}, scanner: \"hci\", tag: \"here\",")
        #expect(fixture.service.app.core.configuration.statusPage == .gateway)
        #expect(fixture.service.app.core.configuration.scanner == .auto)
        #expect(fixture.service.app.core.configuration.tag == "here")
        #expect(fixture.service.app.settings.configuration == fixture.service.app.core.configuration)
    }

    @Test func `A reload sets another scan duty on the running radio, and "auto" all of the time`() throws {
        let fixture = try ServiceFixture("scanDuty: 0.5,", in: directory)
        #expect(fixture.radio.duty?.share == 0.5)
        try fixture.reload("scanDuty: 0.25,")
        #expect(fixture.radio.duty?.share == 0.25)
        try fixture.reload("scanDuty: \"auto\",")
        #expect(fixture.radio.duty?.share == 1)
        #expect(fixture.radio.starts == 1)
    }

    @Test func `The battery masks are set at the start, and a reload sets others`() throws {
        let fixture = try ServiceFixture("battery: {minorMask: 255},", in: directory)
        #expect(fixture.radio.batteryMasks.all.map(\.minor) == [255])
        try fixture.reload("battery: {majorMask: 15},")
        #expect(fixture.radio.batteryMasks.all.map(\.major) == [15])
        try fixture.reload("")
        #expect(fixture.radio.batteryMasks.all.isEmpty)
    }

    @Test func `The radio hears what a region names from the moment on at which the region is there`() throws {
        let fixture = try ServiceFixture("", in: directory)
        #expect(fixture.radio.identities.isEmpty)
        fixture.command(
            #"""
            {"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[
            {"_type":"waypoint","rid":"bike","tst":1,"desc":"Bike:mac:C0:FF:EE:00:00:01"}]}}
            """#)
        #expect(fixture.radio.identities == [.address(0xc0ff_ee00_0001)])
        fixture.command(
            #"""
            {"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[
            {"_type":"waypoint","rid":"bike","tst":1,"desc":"Bike","lat":1000}]}}
            """#)
        #expect(fixture.radio.identities.isEmpty)
    }

    @Test func `setConfiguration sets another scan duty on the running radio`() throws {
        let fixture = try ServiceFixture("remoteConfiguration: true,", in: directory)
        fixture.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","scanDuty":0.1}}"#)
        #expect(fixture.radio.duty == ScanDuty(share: 0.1))
        #expect(fixture.radio.starts == 1)
    }

    @Test func `A reload of a file that is wrong leaves the old settings in force`() throws {
        let fixture = try ServiceFixture(in: directory)
        try fixture.reload("keepalive: \"no number\",")
        #expect(fixture.broker.connections == 1)
        #expect(fixture.broker.isConnected)
    }

    @Test func `Remote settings that the broker accepts are kept over a restart`() throws {
        let members = "remoteConfiguration: true,"
        let fixture = try ServiceFixture(members, in: directory)
        fixture.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","host":"new"}}"#)
        #expect(fixture.broker.settings?.hosts == ["new"])
        fixture.service.app.stop()
        let next = try ServiceFixture(members, in: directory)
        #expect(next.broker.settings?.hosts == ["new"])
    }

    private static let mayBeSet = "remoteConfiguration: true,"

    /// A service with kept settings.
    private func set(_ settings: String, over file: String = mayBeSet) throws -> ServiceFixture {
        let fixture = try ServiceFixture(file, in: directory)
        fixture.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration",\#(settings)}}"#)
        return fixture
    }

    @Test(arguments: [true, false])
    func `Without remoteConfiguration in the file, as after setup, remote settings are forgotten for good`(
        isLive: Bool
    ) throws {
        var fixture = try set(#""host":"new","tag":"x""#)
        #expect(fixture.broker.settings?.hosts == ["new"])
        if isLive { try fixture.reload("") } else { fixture = try fixture.restarted() }
        #expect(fixture.broker.settings?.hosts == ["localhost"])
        #expect(fixture.app.core.configuration.tag == nil)
        #expect(fixture.broker.isConnected)
        try fixture.reload(Self.mayBeSet)
        #expect(fixture.broker.settings?.hosts == ["localhost"])
        let next = try fixture.restarted(Self.mayBeSet)
        #expect(next.broker.settings?.hosts == ["localhost"])
        #expect(next.app.core.remoteSettings == nil)
    }

    @Test(arguments: [true, false])
    func `The broker that a person writes into the file later is used, and other remote settings stay`(
        isLive: Bool
    ) throws {
        var fixture = try set(#""host":"gone","port":39422,"tag":"x""#)
        #expect(fixture.broker.settings?.port == 39422)
        let file = Self.mayBeSet + "port: 1884,"
        if isLive { try fixture.reload(file) } else { fixture = try fixture.restarted(file) }
        // The second start finds the same.
        for _ in 1...2 {
            #expect(fixture.broker.settings?.hosts == ["localhost"])
            #expect(fixture.broker.settings?.port == 1884)
            #expect(fixture.app.core.configuration.tag == "x")
            fixture = try fixture.restarted(file)
        }
        // The file as it was when they came brings nothing back.
        try fixture.reload(Self.mayBeSet)
        #expect(fixture.broker.settings?.hosts == ["localhost"])
        #expect(fixture.broker.settings?.port == 1883)
    }

    @Test func `A reload of an unchanged file leaves remote settings in force`() throws {
        let fixture = try set(#""host":"new""#)
        let kept = fixture.app.core.remoteSettings
        try fixture.reload(Self.mayBeSet)
        try fixture.reload(Self.mayBeSet + "lat: 1, lon: 2,")
        #expect(fixture.broker.settings?.hosts == ["new"])
        #expect(fixture.app.core.remoteSettings == kept)
    }

    @Test func `Settings that come after a change of the file win over it`() throws {
        let fixture = try set(#""host":"gone""#)
        let file = Self.mayBeSet + "host: \"home\","
        try fixture.reload(file)
        #expect(fixture.broker.settings?.hosts == ["home"])
        fixture.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","host":"later"}}"#)
        #expect(fixture.broker.settings?.hosts == ["later"])
        #expect(try fixture.restarted(file).broker.settings?.hosts == ["later"])
    }

    @Test(arguments: [true, false])
    func `Remote settings that are not valid with the file are forgotten, and do not come back later`(
        isLive: Bool
    ) throws {
        var fixture = try set(#""leaveRSSI":-70,"tag":"x""#)
        #expect(fixture.app.core.configuration.leaveRSSI != nil)
        let file = Self.mayBeSet + "enterRSSI: -90,"
        if isLive { try fixture.reload(file) } else { fixture = try fixture.restarted(file) }
        #expect(fixture.app.core.configuration.enterRSSI != nil)
        #expect(fixture.app.core.configuration.tag == nil)
        try fixture.reload(Self.mayBeSet)
        let next = try fixture.restarted(Self.mayBeSet)
        #expect(next.app.core.configuration.leaveRSSI == nil)
        #expect(next.app.core.remoteSettings == nil)
    }

    @Test func `Remote settings that an earlier program kept apply, until the file changes`() throws {
        let fixture = try ServiceFixture(Self.mayBeSet, in: directory)
        let old = Array(#"{"_type":"configuration","host":"old"}"#.utf8)
        fixture.store.submit(.commit([.value(key: Gateway.remoteSettingsKey, old)]))
        fixture.settle()
        let next = try fixture.restarted(Self.mayBeSet).restarted(Self.mayBeSet)
        #expect(next.broker.settings?.hosts == ["old"])
        try next.reload(Self.mayBeSet + "host: \"new\",")
        #expect(next.broker.settings?.hosts == ["new"])
    }

    @Test func `Beside remote settings, relative paths of certificates count from the configuration file`() throws {
        let fixture = try ServiceFixture("remoteConfiguration: true, tls: true, caFile: \"ca.pem\",", in: directory)
        fixture.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","host":"new"}}"#)
        #expect(fixture.broker.settings?.hosts == ["new"])
        #expect(fixture.broker.settings?.tls?.caFile == directory.file("ca.pem"))
    }

    @Test func `Remote settings with which no broker answers are rolled back after the trial`() throws {
        let fixture = try ServiceFixture("remoteConfiguration: true,", in: directory)
        fixture.broker.isReachable = false
        fixture.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","host":"new"}}"#)
        #expect(fixture.broker.settings?.hosts == ["new"])
        fixture.broker.isReachable = true
        fixture.wait(.seconds(61))
        #expect(fixture.broker.settings?.hosts == ["localhost"])
        #expect(fixture.broker.isConnected)
    }

    @Test(arguments: [false, true])
    func `With the old settings, a tracker has the mode to which a region had switched it, and the command is refused`(
        isReload: Bool
    ) throws {
        let fixture = try ServiceFixture("remoteConfiguration: true,", in: directory)
        fixture.command(
            #"""
            {"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[
            {"_type":"waypoint","rid":"switch","tst":1700000000,"desc":"Switch|2|1:\#(ServiceFixture.uuid):1:7"}]}}
            """#)
        try fixture.bringKeys()
        #expect(fixture.app.core.trackers[0].monitoring == .move)
        fixture.broker.isReachable = false
        fixture.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","host":"new","monitoring":0}}"#
        )
        #expect(fixture.app.core.trackers[0].monitoring == .manual)
        let refused = fixture.app.core.counters.commands.refused
        if isReload { try fixture.reload("remoteConfiguration: true,") } else { fixture.wait(.seconds(61)) }
        #expect(fixture.broker.settings?.hosts == ["localhost"])
        #expect(fixture.app.core.trackers[0].monitoring == .move)
        #expect(fixture.app.core.counters.commands.refused == refused + 1)
        // The mode is stored, too.
        fixture.broker.isReachable = true
        let next = try fixture.restarted("remoteConfiguration: true,")
        #expect(next.app.core.trackers[0].monitoring == .move)
    }

    @Test func `Trackers that return with the old settings have their regions, and nobody enters twice`() throws {
        let fixture = try ServiceFixture("remoteConfiguration: true, trackers: [{deviceId: \"bag\"}],", in: directory)
        fixture.commandBag(of: "bag")
        try fixture.bringKeys()
        #expect(fixture.transitions == ["enter Keys", "enter Keys"])
        fixture.broker.isReachable = false
        fixture.command(
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","host":"new","trackers":[]}}"#
        )
        #expect(fixture.app.core.trackers.count == 1)
        fixture.broker.isReachable = true
        for _ in 1...10 { try fixture.bringKeys() }
        #expect(fixture.app.core.trackers.last?.regions.regions.map(\.rid) == ["keys", "bag"])
        fixture.wait(.seconds(10))
        #expect(fixture.broker.settings?.hosts == ["localhost"])
        #expect(fixture.transitions == ["enter Keys", "enter Keys"])
        fixture.wait(.seconds(120))
        #expect(fixture.transitions.count { $0 == "leave Keys" } == 2)
    }

    @Test func `A tracker that was removed before the start comes back by a reload with its regions`() throws {
        let trackers = "trackers: [{deviceId: \"bag\"}],"
        let first = try ServiceFixture(trackers, in: directory)
        first.commandBag(of: "bag")
        let next = try first.restarted()
        try next.reload(trackers)
        #expect(next.app.core.trackers.map { $0.regions.regions.map(\.rid) } == [["keys"], ["keys", "bag"]])
    }

    @Test func `A clear that waited at a crash is carried out once, though its tracker was removed`() throws {
        let trackers = "trackers: [{deviceId: \"bag\"}],"
        let first = try ServiceFixture(trackers, in: directory)
        first.commandBag(of: "bag")
        first.store.submit(.commit([.value(key: "pending clear owntracks/jane/bag", Array(#"["bag"]"#.utf8))]))
        first.settle()
        let next = try first.restarted()
        try next.reload(trackers)
        #expect(next.app.core.trackers.map { $0.regions.regions.map(\.rid) } == [["keys"], ["keys"]])
        next.commandBag(of: "bag")
        let last = try next.restarted(trackers)
        #expect(last.app.core.trackers.map { $0.regions.regions.map(\.rid) } == [["keys"], ["keys", "bag"]])
    }

    @Test(arguments: [true, false])
    func `A later tracker with the former topic of another begins without regions`(isLive: Bool) throws {
        let renamed = "pubTopicBase: \"owntracks/jane/attic\","
        let two = renamed + "trackers: [{deviceId: \"box\", pubTopicBase: \"owntracks/jane/hall\", waypoints: []}],"
        var fixture = try ServiceFixture(in: directory)
        fixture.commandBag()
        if isLive { try fixture.reload(renamed) } else { fixture = try fixture.restarted(renamed) }
        try fixture.reload(two)
        // The second start finds nothing either.
        for _ in 1...2 {
            #expect(fixture.app.core.trackers.map { $0.regions.regions.map(\.rid) } == [["keys", "bag"], []])
            fixture = try fixture.restarted(two)
        }
    }

    @Test(arguments: [true, false])
    func `A renamed tracker keeps its regions though an earlier program left others under the new topic`(isLive: Bool)
        throws
    {
        let renamed = "pubTopicBase: \"owntracks/jane/attic\","
        var fixture = try ServiceFixture(in: directory)
        fixture.commandBag()
        let old = Region(
            rid: "old", description: try RegionDescription(parsing: "Old:\(ServiceFixture.uuid):1:9", base: .decimal),
            timestamp: 1)
        fixture.store.submit(.commit([.regions(tracker: "owntracks/jane/attic", [old])]))
        fixture.settle()
        if isLive {
            fixture = try fixture.restarted()
            try fixture.reload(renamed)
        } else {
            fixture = try fixture.restarted(renamed)
        }
        #expect(fixture.app.core.trackers.map { $0.regions.regions.map(\.rid) } == [["keys", "bag"]])
    }

    @Test func `A tracker that was removed two starts before comes back with its regions, also in another's place`()
        throws
    {
        func trackers(_ device: String) -> String { "trackers: [{deviceId: \"\(device)\"}]," }
        let first = try ServiceFixture(trackers("bag"), in: directory)
        first.commandBag(of: "bag")
        let next = try first.restarted().restarted(trackers("box")).restarted(trackers("bag"))
        #expect(next.app.core.trackers.map { $0.regions.regions.map(\.rid) } == [["keys"], ["keys", "bag"]])
    }

    @Test func `Regions that come with settings go to the tracker that got the command, wherever the settings put it`()
        throws
    {
        let fixture = try ServiceFixture(
            "remoteConfiguration: true, trackers: [{deviceId: \"bag\", waypoints: []}],", in: directory)
        fixture.command(
            to: "bag",
            #"""
            {"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration",
             "trackers":[{"deviceId":"box","waypoints":[]},{"deviceId":"bag","waypoints":[]}]},
             "waypoints":{"_type":"waypoints","waypoints":[
              {"_type":"waypoint","rid":"mine","tst":1,"desc":"Mine:\#(ServiceFixture.uuid):1:9"}]}}
            """#)
        #expect(fixture.app.core.trackers.map(\.configuration.deviceID) == ["hall", "box", "bag"])
        #expect(fixture.app.core.trackers.map { $0.regions.regions.map(\.rid) } == [["keys"], [], ["mine"]])
    }

    @Test(arguments: [
        ("", true), (#"trackers: [{deviceId: "anne", pubTopicBase: "owntracks/jane/anna"}],"#, true),
        (#"trackers: [{deviceId: "anna", pubTopicBase: "owntracks/jane/anne"}],"#, false),
    ])
    func `The states of a tracker that a restart finds removed, or on another device, are emptied`(
        members: String, isEmptied: Bool
    ) throws {
        let first = try ServiceFixture("trackers: [{deviceId: \"anna\"}],", in: directory)
        first.commandBag(of: "anna")
        try first.bringKeys()
        let next = try first.restarted(members)
        next.wait(.seconds(1))
        for rid in ["keys", "bag"] {
            let states = next.broker.messages.filter { $0.topic == "ibeacon-gateway/anna/region/\(rid)" }
            #expect(states.map(\.payload.isEmpty) == [isEmptied])
            #expect(states.allSatisfy { $0.isRetained })
        }
        // Once is enough.
        let last = try next.restarted(members)
        last.wait(.seconds(1))
        #expect(last.broker.messages.allSatisfy { !$0.payload.isEmpty })
    }

    @Test(arguments: [("hardware-1", true, true), ("hardware-2", false, false), (nil, false, true)])
    func
        `With another device only the same hardware empties states, and a copied card does not have the presence of the first gateway`(
            hardware: String?, isEmptied: Bool, isContinued: Bool
        ) throws
    {
        let first = try ServiceFixture(in: directory)
        first.broker.lose()
        try first.bringKeys()
        let next = try first.restarted(device: "kitchen", hardware: hardware)
        next.wait(.seconds(1))
        let ofHall = next.broker.messages.filter { $0.topic.contains("/hall/") }
        #expect(ofHall.contains(where: \.payload.isEmpty) == isEmptied)
        #expect(next.transitions.contains("enter Keys"), "what waited is not lost")
        #expect(next.app.core.trackers[0].occupancy.isEmpty != isContinued)
        #expect(next.broker.messages.contains { $0.topic == "ibeacon-gateway/kitchen/region/keys" })
        let last = try next.restarted(device: "kitchen", hardware: hardware)
        #expect(last.app.core.trackers[0].occupancy.isEmpty != isContinued)
    }

    @Test func `A copied card that runs as the first gateway goes on, and is a copy when it gets its own device`()
        throws
    {
        let first = try ServiceFixture(in: directory)
        try first.bringKeys()
        let same = try first.restarted(hardware: "hardware-2")
        #expect(same.app.core.trackers[0].occupancy.count == 1)
        let next = try same.restarted(device: "kitchen", hardware: "hardware-2")
        next.wait(.seconds(1))
        #expect(next.app.core.trackers[0].occupancy.isEmpty)
        #expect(next.broker.messages.allSatisfy { !$0.payload.isEmpty })
        // From now on this is its hardware.
        try next.bringKeys()
        let renamed = try next.restarted(device: "cellar", hardware: "hardware-2")
        renamed.wait(.seconds(1))
        #expect(renamed.app.core.trackers[0].occupancy.count == 1)
        #expect(renamed.broker.messages.contains { $0.topic.contains("/kitchen/") && $0.payload.isEmpty })
    }

    @Test func `Occupancy outlives a restart without a second enter`() throws {
        let fixture = try ServiceFixture(in: directory)
        try fixture.bringKeys()
        fixture.service.app.stop()
        #expect(fixture.host.exitCode == .ok)
        let next = try ServiceFixture(in: directory)
        #expect(next.service.app.core.trackers[0].occupancy["keys"] != nil)
        try next.bringKeys()
        #expect(next.transitions.isEmpty)
    }

    @Test func `A tracker that has another topic after a restart keeps its regions and who is inside, as at a reload`()
        throws
    {
        let first = try ServiceFixture(in: directory)
        first.commandBag()
        try first.bringKeys()
        // The second start finds everything under the new topic.
        var next = first
        for _ in 1...2 {
            next = try next.restarted("pubTopicBase: \"owntracks/jane/attic\",")
            let tracker = next.app.core.trackers[0]
            #expect(tracker.regions.regions.map(\.rid) == ["keys", "bag"])
            #expect(tracker.occupancy["keys"] != nil)
        }
    }

    @Test(arguments: [(999, false), (1000, true)])
    func `Memory is released ten seconds after the start, and after a long list came`(
        count: Int, isLong: Bool
    ) throws {
        let fixture = try ServiceFixture(in: directory)
        fixture.wait(.seconds(9))
        #expect(fixture.host.releases.isEmpty)
        fixture.wait(.seconds(60))
        #expect(fixture.host.releases.count == 1)
        let more = (2...count).map { number in
            #"{"_type":"waypoint","rid":"r\#(number)","tst":1,"desc":"R\#(number):\#(ServiceFixture.uuid):2:\#(number)"}"#
        }
        fixture.command(
            #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":["#
                + more.joined(separator: ",") + "]}}")
        fixture.wait(.seconds(9))
        #expect(fixture.host.releases.count == 1)
        fixture.wait(.seconds(60))
        #expect(fixture.host.releases.count == (isLong ? 2 : 1))
    }

    @Test(arguments: ["homeassistant/status", "ha/status"])
    func `The birth of Home Assistant counts once, and not each time that the broker sends a retained one`(
        topic: String
    ) throws {
        let fixture = try ServiceFixture("reannounce: true, homeAssistant: {prefix: \"ha\"},", in: directory)
        #expect(fixture.broker.filters.contains(topic))
        try fixture.bringKeys()
        for (isRetained, enters) in [(true, 1), (false, 2)] {
            fixture.broker.send(
                .message(
                    ReceivedMessage(
                        topic: topic, payload: Array("online".utf8), qos: .atLeastOnce,
                        retained: isRetained))
            )
            fixture.settle()
            #expect(fixture.transitions.count == enters)
        }
    }

    @Test(arguments: ["", "room: \"Hall\","])
    func `A tracker with a key that a reload takes away vanishes from Home Assistant`(room: String) throws {
        let discovery = "homeAssistant: {discovery: true},"
        let fixture = try ServiceFixture(
            "\(discovery) trackers: [{deviceId: \"anna\", encryptionKey: \"secret\"}],", in: directory)
        fixture.wait(.seconds(1))
        func isAnnas(_ topic: String) -> Bool { topic.contains("anna") }
        #expect(fixture.retained.keys.contains("ibeacon-gateway/anna/presence/owntracks%2Fjane%2Fanna"))
        #expect(fixture.retained.keys.count { isAnnas($0) && $0.hasSuffix("/config") } == 6)
        try fixture.reload(discovery + room)
        #expect(fixture.retained.allSatisfy { !isAnnas($0.key) || !$0.key.hasSuffix("/config") || $0.value.isEmpty })
        fixture.wait(.seconds(10))
        #expect(fixture.retained.allSatisfy { !isAnnas($0.key) || $0.value.isEmpty })
        // Without a key requests are carried out.
        #expect(fixture.retained.count { $0.key.hasPrefix("homeassistant/button/") && !$0.value.isEmpty } == 2)
        #expect(fixture.availability.filters.contains("ibeacon-gateway/hall/command"))
    }

    @Test func `With "cmd: false" in a reload the buttons and selectors vanish from Home Assistant, and nothing else`()
        throws
    {
        let discovery = "homeAssistant: {discovery: true},"
        let fixture = try ServiceFixture(discovery, in: directory)
        fixture.wait(.seconds(1))
        #expect(fixture.retained.values.allSatisfy { !$0.isEmpty })
        try fixture.reload(discovery + "cmd: false,")
        fixture.wait(.seconds(10))
        let gone = fixture.retained.filter(\.value.isEmpty).keys.map { $0.split(separator: "/")[1] }
        #expect(gone.sorted() == ["button", "button", "select"])
        #expect(!fixture.availability.filters.contains("ibeacon-gateway/hall/command"))
    }

    @Test func `A stop before the state is read keeps the stored regions and who is inside`() throws {
        let first = try ServiceFixture(in: directory)
        first.commandBag()
        try first.bringKeys()
        first.service.app.stop()
        let second = try ServiceFixture(in: directory, settles: false)
        let page = try #require(second.status.source)
        #expect(
            page.perform(.removeRegion(tracker: 0, rid: "keys")) == .refused("the service has not read its state yet"))
        second.service.app.reload()
        second.service.app.stop()
        let third = try ServiceFixture(in: directory)
        #expect(third.app.core.trackers[0].regions.regions.map(\.rid) == ["keys", "bag"])
        #expect(third.app.core.trackers[0].occupancy["keys"] != nil)
    }

    @Test func `The page changes what was given of a region, and does not bring back one that is gone`() throws {
        let fixture = try ServiceFixture(in: directory)
        let source = try #require(fixture.status.source)
        let change =
            #"{"rid":"keys","desc":"Bag","uuid":"\#(ServiceFixture.uuid)","major":1,"minor":7,"leaveAfter":30}"#
        #expect(source.perform(.editRegion(tracker: 0, waypoint: change)) == .done)
        let form = try #require(source.region(ofTracker: 0, rid: "keys"))
        #expect([form["desc"], form["minor"], form["leaveAfter"]] == ["Bag", 7, 30])
        try fixture.bringKeys()
        #expect(fixture.transitions == ["enter Bag"])
        let payloads = fixture.broker.messages.map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(payloads.contains { $0.contains("\"wtst\":1600000000") })
        #expect(source.perform(.removeRegion(tracker: 0, rid: "keys")) == .done)
        #expect(source.perform(.editRegion(tracker: 0, waypoint: change)) == .refused("there is no such region"))
        #expect(source.region(ofTracker: 0, rid: "keys") == nil)
        #expect(source.region(ofTracker: 9, rid: "keys") == nil)
    }

    @Test
    func
        `The time line of a start before the clock is set is complete when the clock is set, and nothing is in it twice`()
        throws
    {
        let first = try ServiceFixture(in: directory)
        try first.bringKeys()
        first.wait(.seconds(120))
        first.service.app.stop()
        let clock = WallClock(epochOffset: first.host.wallClock.epochOffset + 3600 * 1_000_000_000, isKnown: true)
        let next = try ServiceFixture(in: directory, isClockKnown: false)
        try next.bringKeys()
        func events() -> [TransitionEvent] {
            next.status.source?.statusSnapshot().transitions.map(\.event) ?? []
        }
        #expect(events() == [.enter])
        let entered = next.status.source?.statusSnapshot().trackers.first?.regions.first?.since
        next.host.wallClock = clock
        next.wait(.seconds(10))
        #expect(events() == [.enter, .leave, .enter])
        #expect(next.status.source?.statusSnapshot().trackers.first?.regions.first?.since == entered)
        next.service.app.readClock()
        #expect(events() == [.enter, .leave, .enter])
    }

    @Test func `A region that gets another beacon does not show the old one`() throws {
        let fixture = try ServiceFixture(in: directory)
        func shown() -> BeaconID? {
            fixture.status.source?.statusSnapshot().trackers.first?.regions.first?.beacon
        }
        try fixture.bringKeys()
        #expect(shown()?.minor == 7)
        // Long after the beacon is forgotten, its region shows it.
        fixture.wait(.seconds(3600))
        #expect(shown()?.minor == 7)
        let change = #"{"rid":"keys","desc":"Keys","uuid":"\#(ServiceFixture.uuid)","major":1,"minor":9}"#
        #expect(fixture.status.source?.perform(.editRegion(tracker: 0, waypoint: change)) == .done)
        #expect(shown() == nil)
        fixture.wait(.seconds(60))
        #expect(shown() == nil)
    }

    @Test func `Offline, locations are kept for history --gpx though nothing is sent (iOS page)`() throws {
        let fixture = try ServiceFixture("port: 0, lat: 52, lon: 6,", in: directory)
        try fixture.bringKeys()
        fixture.service.app.stop()
        var triggers: [String] = []
        try StoreReader(directory: directory.path).forEachLocation(HistoryFilter()) {
            triggers.append($0.trigger)
            return true
        }
        #expect(triggers == ["b"])
        #expect(fixture.broker.messages.isEmpty)
    }

    @Test
    func `A failure that an adapter reports again and again is logged once a minute, and each change of its state`()
        throws
    {
        let path = try directory.write("", to: "log")
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let fixture = try ServiceFixture(
            in: directory, log: Log(threshold: .info, style: .plain, descriptor: descriptor))
        let radio = try #require(fixture.radio.output)
        for count in 1...30 {
            radio.notice(Notice(.warning, "hci0: no discovery: busy; trying again"))
            radio.notice(Notice(.warning, "hci0: \(count) packets were lost"))
        }
        radio.notice(Notice(.warning, "hci1: no discovery: busy; trying again"))
        for isListening in [true, false, true] {
            radio.listening(
                isListening, of: Receiver(index: 0), duty: nil, at: fixture.host.now, because: "hci0: a loose plug")
        }
        let lines = String(decoding: try directory.read("log"), as: UTF8.self).split(separator: "\n")
        #expect(
            lines.filter { $0.contains("hci") } == [
                "warning: hci0: no discovery: busy; trying again", "warning: hci0: 1 packets were lost",
                "warning: hci1: no discovery: busy; trying again", "listening: hci0: a loose plug",
                "not listening: hci0: a loose plug", "listening: hci0: a loose plug",
            ])
    }

    @Test func `After a stall no beacon leaves whose report waits behind others`() throws {
        let fixture = try ServiceFixture(in: directory)
        fixture.commandBag()
        fixture.listen()
        let uuid = try #require(BeaconUUID(ServiceFixture.uuid))
        func hear(_ minor: UInt16) {
            fixture.radio.output?.heard(
                Sighting(
                    beacon: BeaconID(uuid: uuid, major: 1, minor: minor), measuredPower: MeasuredPower(dBm: -59),
                    rssi: RSSI(reported: -60), receiver: Receiver(index: 0)), at: fixture.host.now)
        }
        for second in 0..<100 {
            if second.isMultiple(of: 50) { hear(7) }
            hear(8)
            fixture.wait(.seconds(1))
        }
        // The keys leave after a minute, and were heard 50 s ago.
        fixture.host.now = fixture.host.now.advanced(by: .seconds(30))
        for minor: UInt16 in [8, 8, 7] { hear(minor) }
        fixture.settle()
        #expect(Set(fixture.transitions) == ["enter Keys", "enter Bag"])
        fixture.wait(.seconds(130))
        #expect(Set(fixture.transitions) == ["enter Keys", "enter Bag", "leave Keys", "leave Bag"])
    }

    @Test func `A suspend is no silence`() throws {
        let fixture = try ServiceFixture(in: directory)
        try fixture.bringKeys()
        fixture.host.suspended += .seconds(3600)
        fixture.host.now = fixture.host.now.advanced(by: .seconds(3600))
        fixture.settle()
        #expect(fixture.transitions == ["enter Keys"])
        fixture.wait(.seconds(120))
        #expect(fixture.transitions == ["enter Keys", "leave Keys"])
    }

    @Test func `Another tracker in the place of one that was removed does not inherit when its regions changed`() throws
    {
        let waypoints = #"waypoints: [{_type: "waypoint", rid: "keys", desc: "Bag:\#(ServiceFixture.uuid):1:7"}]"#
        func trackers(_ device: String) -> String { "trackers: [{deviceId: \"\(device)\", \(waypoints)}]," }
        let fixture = try ServiceFixture(trackers("bag"), in: directory)
        func lastChange() -> MonotonicInstant? {
            fixture.status.source?.statusSnapshot().trackers.last?.regions.first?.since
        }
        try fixture.bringKeys()
        fixture.wait(.seconds(90))
        #expect(lastChange() != nil)
        try fixture.reload("")
        try fixture.reload(trackers("box"))
        #expect(lastChange() == nil)
    }
}

/// A file layer of SQLite that fails on command.
private final class FaultyDisk {
    let name = "service-fault-\(UInt64.random(in: 0 ... .max))"
    private let vfs: OpaquePointer

    init() { vfs = fault_vfs_register(name) }
    deinit { fault_vfs_unregister(vfs) }

    /// Every write fails with SQLITE_FULL.
    func set(failing: Bool) { fault_vfs_set_fault(vfs, failing ? 1 : 0) }
}
