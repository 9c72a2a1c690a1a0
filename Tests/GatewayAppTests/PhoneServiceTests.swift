import Base
import Beacon
import Configuration
import Encryption
import Gateway
import Identities
import JSON
import Messaging
import OwnTracks
import Regions
import Runtime
import ServiceSupport
import Shell
import SiteProtocol
import Status
import Storage
import System
import TestSupport
import Testing

@testable import GatewayApp

/// The keys of phones in a running service, in virtual time.
struct PhoneServiceTests {
    private static let key = IdentityKey(high: 0xec02_34a3_57c8_ad05, low: 0x3410_10a6_0a39_7d9b)
    private static let site = "rooms: {encryptionKey: 'a key of the site'},"
    private static let own = "ibeacon-rooms/home/phones/hall"
    private static let other = "ibeacon-rooms/home/phones/kitchen"
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ change: (inout PhoneKeys) throws -> Void) throws {
        _ = try PhoneKeyFile.update(in: directory.path) { keys throws(Failure) in
            do { try change(&keys) } catch { throw Failure(.software, "\(error)") }
        }
    }

    private var stored: PhoneKeys { get throws { try PhoneKeyFile.read(in: directory.path) } }

    private func add(_ key: IdentityKey = key, _ name: String = "Jane", at time: Int64? = nil) throws {
        try write { try $0.set(PhoneKey(key), of: name, at: time) }
    }

    /// The site as another gateway has it.
    private func kitchen(_ members: String = site) throws -> PhoneSite {
        let json = try JSONValue(parsing: Array("{deviceId: 'kitchen', \(members)}".utf8), dialect: .json5)
        return try #require(PhoneSite(try Configuration(json, hostName: "kitchen")))
    }

    private func send(_ payload: [UInt8], to fixture: ServiceFixture, topic: String = other) {
        fixture.availability.send(
            .message(ReceivedMessage(topic: topic, payload: payload, qos: .atLeastOnce, retained: true)))
        fixture.settle()
    }

    private func send(_ list: PhoneKeys, to fixture: ServiceFixture) throws {
        send(try #require(try kitchen().payload(of: list)), to: fixture)
    }

    /// The list that the service has published last.
    private func published(_ fixture: ServiceFixture) throws -> PhoneKeys? {
        try fixture.availability.messages.last { $0.topic == Self.own }.map { message in
            #expect(message.isRetained)
            return try kitchen().keys(in: message.payload, of: "hall")
        }
    }

    // MARK: The file

    @Test func `Keys are read at the start, changes within seconds, and a mistake in the file changes nothing`() throws
    {
        try add()
        let fixture = try ServiceFixture("", in: directory)
        #expect(fixture.radio.keys == [PhoneKey(Self.key)])
        try add(IdentityKey(high: 3, low: 4), "John")
        fixture.wait(.seconds(6))
        #expect(fixture.radio.keys.count == 2)
        try directory.write("no key\n", to: "phone-keys")
        fixture.wait(.seconds(6))
        #expect(fixture.radio.keys.count == 2)
    }

    @Test func `Without a key of the site no list is published, whatever else the site has`() throws {
        try add()
        let fixture = try ServiceFixture("rooms: {},", in: directory)
        fixture.wait(.seconds(20))
        #expect(fixture.availability.messages.allSatisfy { !$0.topic.contains("/phones") })
        #expect(!fixture.availability.filters.contains { $0.contains("/phones") })
    }

    @Test func `The order that the radio has learned is stored, and a region of the other order is still heard`() throws
    {
        try add(Self.key.reversed)
        let fixture = try ServiceFixture("", in: directory)
        fixture.command(
            #"""
            {"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[
            {"_type":"waypoint","rid":"jane","tst":1,"desc":"Jane:\#(Self.key.reversed.uuid)"}]}}
            """#)
        fixture.radio.phones = [PhoneHearing(phone: PhoneKey(Self.key, isOrdered: true), lastHeard: fixture.host.now)]
        fixture.wait(.seconds(6))
        #expect(try stored.phones.map(\.key) == [PhoneKey(Self.key, isOrdered: true)])
        #expect(fixture.radio.keys == [PhoneKey(Self.key, isOrdered: true)])
        #expect(fixture.radio.named == [Self.key.reversed.uuid])
    }

    // MARK: Descriptions

    @Test func `A key in the configuration is stored as a key, and its region has the derived UUID`() throws {
        let waypoint = #"{_type: "waypoint", rid: "jane", tst: 1, desc: "Jane:irk:\#(Self.key.digits)"}"#
        let fixture = try ServiceFixture(
            "trackers: [{tid: 'b', deviceId: 'b', waypoints: [\(waypoint)]}],", in: directory)
        #expect(fixture.radio.keys == [PhoneKey(Self.key)])
        #expect(try stored.phones.map(\.name) == ["Jane"])
        let region = try #require(fixture.service.app.core.trackers[1].regions[rid: "jane"])
        #expect(region.description.text() == "Jane:\(Self.key.uuid)")
        // Another key that was given since stays.
        try add(IdentityKey(high: 3, low: 4))
        try fixture.reload("trackers: [{tid: 'b', deviceId: 'b', waypoints: [\(waypoint)]}],")
        #expect(fixture.radio.keys == [PhoneKey(IdentityKey(high: 3, low: 4))])
    }

    @Test func `Without a site a phone that was removed gets the key that the configuration has for it now`() throws {
        let fixture = try ServiceFixture(in: directory)
        try add()
        try write { _ = $0.remove("Jane", at: 200) }
        let waypoint = #"{_type: "waypoint", rid: "jane", tst: 1, desc: "Jane:irk:\#(Self.key.digits)"}"#
        try fixture.reload("trackers: [{tid: 'b', deviceId: 'b', waypoints: [\(waypoint)]}],")
        #expect(fixture.radio.keys == [PhoneKey(Self.key)])
    }

    private func command(_ fixture: ServiceFixture, isEncrypted: Bool) throws {
        let json = #"""
            {"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[
            {"_type":"waypoint","rid":"jane","tst":1,"desc":"Jane:irk:\#(Self.key.digits)"}]}}
            """#
        let cipher = try #require(PayloadCipher(key: Secret("a key of jane")))
        let payload = isEncrypted ? cipher.sealed(Array(json.utf8)) : Array(json.utf8)
        let reader = fixture.service.keys.read
        let message = ReceivedMessage(
            topic: "owntracks/jane/hall/cmd", payload: payload, qos: .atLeastOnce, retained: false)
        fixture.broker.send(.decoded(try #require(reader(message))))
        fixture.settle()
    }

    @Test func `An encrypted setWaypoints may have a key, which nothing that is stored or published shows`() throws {
        let fixture = try ServiceFixture("encryptionKey: 'a key of jane', http: null,", in: directory)
        try command(fixture, isEncrypted: true)
        #expect(fixture.radio.keys == [PhoneKey(Self.key)])
        let region = try #require(fixture.service.app.core.trackers[0].regions[rid: "jane"])
        #expect(region.description.text() == "Jane:\(Self.key.uuid)")
        #expect(fixture.service.app.core.counters.waypointsRefused == 0)
    }

    @Test func `A plain setWaypoints with a key is refused and counted`() throws {
        let fixture = try ServiceFixture("", in: directory)
        try command(fixture, isEncrypted: false)
        #expect(fixture.radio.keys.isEmpty)
        #expect(try stored.isEmpty)
        #expect(fixture.service.app.core.trackers[0].regions[rid: "jane"] == nil)
        #expect(fixture.service.app.core.counters.waypointsRefused == 1)
    }

    @Test func `setConfiguration may not have a key, in no tracker and in no region`() throws {
        let fixture = try ServiceFixture("remoteConfiguration: true,", in: directory)
        let waypoint = #"{"_type":"waypoint","rid":"jane","tst":1,"desc":"Jane:irk:\#(Self.key.digits)"}"#
        for members in [#""waypoints":[\#(waypoint)]"#, #""trackers":[{"deviceId":"b","waypoints":[\#(waypoint)]}]"#] {
            fixture.command(
                #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration",\#(members)}}"#)
        }
        #expect(fixture.radio.keys.isEmpty)
        #expect(try stored.isEmpty)
        #expect(fixture.service.app.core.trackers.count == 1)
    }

    @Test func `A key that comes while another program changes the file is stored at the next check`() throws {
        let fixture = try ServiceFixture("encryptionKey: 'a key of jane', http: null,", in: directory)
        try write { _ in try command(fixture, isEncrypted: true) }
        #expect(fixture.radio.keys.isEmpty)
        fixture.wait(.seconds(6))
        #expect(fixture.radio.keys == [PhoneKey(Self.key)])
        #expect(try stored.phones.map(\.name) == ["Jane"])
    }

    @Test func `A key that comes while the file cannot be used is stored when it can`() throws {
        let fixture = try ServiceFixture("encryptionKey: 'a key of jane', http: null,", in: directory)
        try directory.write("no key\n", to: "phone-keys")
        try command(fixture, isEncrypted: true)
        fixture.wait(.seconds(20))
        #expect(fixture.radio.keys.isEmpty)
        try directory.write("", to: "phone-keys")
        fixture.wait(.seconds(6))
        #expect(fixture.radio.keys == [PhoneKey(Self.key)])
        #expect(try stored.phones.map(\.name) == ["Jane"])
    }

    /// A command gives a key of this name.
    private func command(_ fixture: ServiceFixture, _ key: IdentityKey, _ name: String) throws {
        let json = #"""
            {"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[
            {"_type":"waypoint","rid":"\#(name)","tst":1,"desc":"\#(name):irk:\#(key.digits)"}]}}
            """#
        let value = try JSONValue(parsing: Array(json.utf8))
        let command = Result { () throws(CommandError) in try Command(value, acceptsKeys: true) }
        let received = ReceivedCommand(
            tracker: 0, command: command, isRetained: false, wasEncrypted: true, digest: CommandDigest(of: json.utf8))
        fixture.service.app.handle(.command(received), at: fixture.host.now)
        fixture.settle()
    }

    @Test func `While the disk takes long to store a key, what comes meanwhile waits, and is stored after it`() throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        fixture.phoneKeys.isSlow = true
        var list = PhoneKeys()
        try list.set(PhoneKey(Self.key), of: "Jane", at: 100)
        try send(list, to: fixture)
        try command(fixture, IdentityKey(high: 3, low: 4), "John")
        list = PhoneKeys()
        try list.set(PhoneKey(IdentityKey(high: 5, low: 6)), of: "Anna", at: 100)
        try send(list, to: fixture)
        fixture.wait(.seconds(20))
        #expect(fixture.radio.keys.isEmpty)
        #expect(try stored.isEmpty)
        fixture.phoneKeys.step()
        #expect(fixture.radio.keys == [PhoneKey(Self.key)])
        fixture.phoneKeys.step()
        #expect(fixture.radio.keys.count == 3)
        #expect(try stored.phones.map(\.name).sorted() == ["Anna", "Jane", "John"])
        #expect(try published(fixture)?.phones.count == 3)
    }

    @Test func `A change that fails waits with what came meanwhile`() throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        fixture.phoneKeys.isSlow = true
        try command(fixture, IdentityKey(high: 1, low: 2), "Jane")
        try command(fixture, IdentityKey(high: 3, low: 4), "John")
        try command(fixture, Self.key, "Jane")
        var list = PhoneKeys()
        try list.set(PhoneKey(IdentityKey(high: 5, low: 6)), of: "Anna", at: 100)
        try send(list, to: fixture)
        try write { _ in fixture.phoneKeys.step() }
        #expect(try stored.isEmpty)
        fixture.phoneKeys.isSlow = false
        fixture.wait(.seconds(6))
        #expect(try stored.phones.map(\.name).sorted() == ["Anna", "Jane", "John"])
        #expect(fixture.radio.keys.contains(PhoneKey(Self.key)))
    }

    @Test func `The end of the service waits until all keys are stored`() throws {
        let fixture = try ServiceFixture("", in: directory)
        fixture.phoneKeys.isSlow = true
        try command(fixture, Self.key, "Jane")
        try command(fixture, IdentityKey(high: 3, low: 4), "John")
        fixture.service.app.stop()
        #expect(try stored.phones.map(\.name) == ["Jane", "John"])
    }

    @Test func `Keys are stored by a thread, which wakes the loop, and the end waits for it`() throws {
        let loop = try EventLoop()
        let link = ThreadedPhoneKeyLink(loop: loop)
        func change(_ name: String, _ low: UInt64) -> PhoneKeyChange {
            PhoneKeyChange(
                known: PhoneKeys(), waiting: [NamedKey(name: name, key: IdentityKey(high: 1, low: low))],
                pending: PhoneKeys(), learned: [], stamps: false, time: nil)
        }
        func names(_ outcome: PhoneKeyOutcome?) -> [String] {
            guard case .stored(let keys, _, _, _) = outcome else { return [] }
            return keys.phones.map(\.name)
        }
        #expect(link.finish(within: .zero))
        var outcome: PhoneKeyOutcome?
        link.store(change("Jane", 1), in: directory.path) { outcome = $0 }
        #expect(outcome == nil)
        try loop.step(until: Clocks.now().advanced(by: .seconds(60))) { outcome != nil }
        #expect(names(outcome) == ["Jane"])
        var last: PhoneKeyOutcome?
        link.store(change("John", 2), in: directory.path) { [directory] _ in
            link.store(change("Anna", 3), in: directory.path) { last = $0 }
        }
        #expect(link.finish(within: .seconds(60)))
        #expect(names(last) == ["Jane", "John", "Anna"])
        link.store(change("Eve", 4), in: "/proc/none") { last = $0 }
        #expect(link.finish(within: .seconds(60)))
        #expect(names(last).isEmpty)
    }

    // MARK: The site

    @Test func `A gateway publishes its list, retained and encrypted, and again when the file changes`() throws {
        try add(at: 100)
        let fixture = try ServiceFixture(Self.site, in: directory)
        #expect(try published(fixture)?.phones.map(\.name) == ["Jane"])
        try add(IdentityKey(high: 3, low: 4), "John", at: 200)
        fixture.wait(.seconds(6))
        #expect(try published(fixture)?.phones.map(\.name) == ["Jane", "John"])
        for message in fixture.availability.messages where message.topic == Self.own {
            #expect(SiteSeal.isSealed(message.payload))
        }
    }

    @Test func `A gateway without phones publishes no list`() throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        fixture.wait(.seconds(20))
        #expect(try published(fixture) == nil)
        #expect(fixture.availability.filters.contains("ibeacon-rooms/home/phones/+"))
    }

    @Test func `A key of another gateway is heard at once, stored, and published by this one, too`() throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        var list = PhoneKeys()
        try list.set(PhoneKey(Self.key, isOrdered: true), of: "Jane", at: 100)
        try send(list, to: fixture)
        #expect(fixture.radio.keys == [PhoneKey(Self.key, isOrdered: true)])
        #expect(try stored == list)
        #expect(try published(fixture) == list)
        let phone = try #require(fixture.service.snapshot(at: fixture.host.now).phones.first)
        #expect(phone.gateways == ["kitchen"])
        // The same list again changes nothing.
        let count = fixture.availability.messages.count
        try send(list, to: fixture)
        fixture.wait(.seconds(20))
        #expect(fixture.availability.messages.count == count)
    }

    @Test func `A removal removes the phone everywhere, and an old list does not bring it back`() throws {
        try add(at: 100)
        let fixture = try ServiceFixture(Self.site, in: directory)
        let before = try stored
        var list = before
        let isRemoved = list.remove("Jane", at: 200)
        #expect(isRemoved)
        try send(list, to: fixture)
        #expect(fixture.radio.keys.isEmpty)
        try send(before, to: fixture)
        fixture.wait(.seconds(6))
        #expect(fixture.radio.keys.isEmpty)
        #expect(try published(fixture)?.removals.map(\.name) == ["Jane"])
    }

    @Test func `A gateway that has lost its state gets its keys back from its own list at the broker`() throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        var list = PhoneKeys()
        try list.set(PhoneKey(Self.key), of: "Jane", at: 100)
        let json = try JSONValue(parsing: Array("{deviceId: 'hall', \(Self.site)}".utf8), dialect: .json5)
        let own = try #require(PhoneSite(try Configuration(json, hostName: "hall")))
        send(try #require(own.payload(of: list)), to: fixture, topic: Self.own)
        #expect(fixture.radio.keys == [PhoneKey(Self.key)])
        #expect(fixture.service.snapshot(at: fixture.host.now).phones.first?.gateways == [])
    }

    /// A list as the gateway with this device publishes it.
    private func payload(of list: PhoneKeys, by device: String) throws -> [UInt8] {
        let json = try JSONValue(parsing: Array("{deviceId: '\(device)', \(Self.site)}".utf8), dialect: .json5)
        let configuration = try Configuration(json, hostName: device)
        let site = try #require(PhoneSite(configuration))
        return try #require(site.payload(of: list))
    }

    @Test func `What stands on the own topic and is not the own list is replaced at once, then once in five seconds`()
        throws
    {
        try add(at: 100)
        let fixture = try ServiceFixture(Self.site, in: directory)
        var old = try stored
        _ = old.remove("Jane")
        try old.set(PhoneKey(IdentityKey(high: 3, low: 4)), of: "John", at: 50)
        try add(IdentityKey(high: 3, low: 4), "John", at: 60)
        fixture.wait(.seconds(12))
        let others: [[UInt8]] = [
            Array("junk".utf8), Array(#"{"_type":"encrypted","data":"AAAA"}"#.utf8), try payload(of: old, by: "hall"),
            try payload(of: try stored, by: "kitchen"), try payload(of: PhoneKeys(), by: "hall"),
        ]
        for other in others {
            let count = fixture.availability.messages.count
            send(other, to: fixture, topic: Self.own)
            #expect(fixture.availability.messages.count == count + 1)
            for _ in 0..<100 { send(other, to: fixture, topic: Self.own) }
            #expect(fixture.availability.messages.count == count + 1)
            fixture.wait(.seconds(6))
            #expect(fixture.availability.messages.count == count + 2)
            #expect(try published(fixture)?.phones.map(\.name) == ["Jane", "John"])
            fixture.wait(.seconds(12))
            #expect(fixture.availability.messages.count == count + 2)
        }
        let count = fixture.availability.messages.count
        send(try payload(of: try stored, by: "hall"), to: fixture, topic: Self.own)
        fixture.wait(.seconds(12))
        #expect(fixture.availability.messages.count == count)
    }

    @Test func `Junk on the own topic of a gateway without phones is replaced, too`() throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        send(Array("junk".utf8), to: fixture, topic: Self.own)
        #expect(try published(fixture) == PhoneKeys())
    }

    @Test func `An older list of another gateway is answered once`() throws {
        try add(at: 100)
        let fixture = try ServiceFixture(Self.site, in: directory)
        let before = try stored
        var list = before
        let isRemoved = list.remove("Jane", at: 200)
        #expect(isRemoved)
        try send(list, to: fixture)
        fixture.wait(.seconds(12))
        let count = fixture.availability.messages.count
        for _ in 0..<10 {
            try send(before, to: fixture)
            fixture.wait(.seconds(6))
        }
        #expect(fixture.availability.messages.count == count + 1)
        #expect(try published(fixture) == list)
        try send(list, to: fixture)
        try send(before, to: fixture)
        fixture.wait(.seconds(6))
        #expect(fixture.availability.messages.count == count + 2)
    }

    @Test func `A phone without a time in an old list does not become newer than its removal`() throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        var old = PhoneKeys()
        try old.set(PhoneKey(Self.key), of: "Jane")
        send(try payload(of: old, by: "hall"), to: fixture, topic: Self.own)
        fixture.wait(.seconds(12))
        var list = old
        let isRemoved = list.remove("Jane", at: 200)
        #expect(isRemoved)
        try send(list, to: fixture)
        fixture.wait(.seconds(6))
        #expect(fixture.radio.keys.isEmpty)
        #expect(try published(fixture)?.phones.isEmpty == true)
    }

    @Test func `A list that comes while another program changes the file is stored at the next check`() throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        var list = PhoneKeys()
        try list.set(PhoneKey(Self.key), of: "Jane", at: 100)
        try write { _ in try send(list, to: fixture) }
        #expect(fixture.radio.keys.isEmpty)
        fixture.wait(.seconds(6))
        #expect(fixture.radio.keys == [PhoneKey(Self.key)])
        #expect(try stored == list)
    }

    @Test func `A line that was deleted by hand comes back while another gateway has it`() throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        var list = PhoneKeys()
        try list.set(PhoneKey(Self.key), of: "Jane", at: 100)
        try send(list, to: fixture)
        try directory.write("# nobody\n", to: "phone-keys")
        fixture.wait(.seconds(11))
        #expect(try stored == list)
    }

    @Test func `A line that was deleted by hand comes back, too, if a list comes before the file is looked at`() throws
    {
        let fixture = try ServiceFixture(Self.site, in: directory)
        var list = PhoneKeys()
        try list.set(PhoneKey(Self.key), of: "Jane", at: 100)
        try send(list, to: fixture)
        try directory.write("# nobody\n", to: "phone-keys")
        let json = try JSONValue(parsing: Array("{deviceId: 'cellar', \(Self.site)}".utf8), dialect: .json5)
        let cellar = try #require(PhoneSite(try Configuration(json, hostName: "cellar")))
        var other = PhoneKeys()
        try other.set(PhoneKey(IdentityKey(high: 3, low: 4)), of: "John", at: 100)
        send(try #require(cellar.payload(of: other)), to: fixture, topic: cellar.topic)
        fixture.wait(.seconds(11))
        #expect(try stored.phones.map(\.name).sorted() == ["Jane", "John"])
    }

    @Test func `However often a client deletes the list, the gateway publishes it at most once in five seconds`() throws
    {
        try add(at: 100)
        let fixture = try ServiceFixture(Self.site, in: directory)
        let count = fixture.availability.messages.count
        for _ in 0..<1000 { send([], to: fixture, topic: Self.own) }
        #expect(fixture.availability.messages.count == count)
        fixture.wait(.seconds(6))
        #expect(fixture.availability.messages.count == count + 1)
        #expect(try published(fixture)?.phones.map(\.name) == ["Jane"])
    }

    @Test func `The lists of all gateways are taken, and 250 of them are shown`() throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        var list = PhoneKeys()
        for number in 1...20 {
            try list.set(PhoneKey(IdentityKey(high: 1, low: UInt64(number))), of: "phone \(number)", at: 100)
        }
        for number in 1...300 {
            if number == 300 { _ = list.remove("phone 1", at: 200) }
            let json = try JSONValue(parsing: Array("{deviceId: 'g\(number)', \(Self.site)}".utf8), dialect: .json5)
            let gateway = try #require(PhoneSite(try Configuration(json, hostName: "g")))
            send(try #require(gateway.payload(of: list)), to: fixture, topic: gateway.topic)
        }
        #expect(fixture.radio.keys.count == 19)
        #expect(try published(fixture)?.removals.map(\.name) == ["phone 1"])
        #expect(fixture.service.snapshot(at: fixture.host.now).phones.first?.gateways?.count == 250)
    }

    @Test(arguments: ["plain", "another key", "another gateway", "another version", "damaged"])
    func `A list that is not the gateway's own, or not readable, is ignored`(_ fault: String) throws {
        let fixture = try ServiceFixture(Self.site, in: directory)
        var list = PhoneKeys()
        try list.set(PhoneKey(Self.key), of: "Jane", at: 100)
        let text = #"{"v":1,"gateway":"kitchen","list":"\#(Self.key.digits),100 Jane\n"}"#
        let cipher = try #require(PayloadCipher(key: Secret("a key of the site")))
        let good = try #require(try kitchen().payload(of: list))
        switch fault {
        case "plain": send(Array(text.utf8), to: fixture)
        case "another key":
            send(try #require(try kitchen("rooms: {encryptionKey: 'x'},").payload(of: list)), to: fixture)
        case "another gateway": send(good, to: fixture, topic: "ibeacon-rooms/home/phones/cellar")
        case "another version":
            send(cipher.sealed(Array(text.replacing("\"v\":1", with: "\"v\":2").utf8)), to: fixture)
        default: send(Array(good.dropLast(20)), to: fixture)
        }
        #expect(fixture.radio.keys.isEmpty)
        #expect(try stored.isEmpty)
        // The text that the faults are made of is right.
        send(cipher.sealed(Array(text.utf8)), to: fixture)
        #expect(fixture.radio.keys == [PhoneKey(Self.key)])
    }

    @Test func `Another site, or none, ends the exchange`() throws {
        try add(at: 100)
        let fixture = try ServiceFixture(Self.site, in: directory)
        try fixture.reload("")
        let count = fixture.availability.messages.count { $0.topic.contains("/phones") }
        try add(IdentityKey(high: 3, low: 4), "John", at: 200)
        fixture.wait(.seconds(6))
        #expect(fixture.availability.messages.count { $0.topic.contains("/phones") } == count)
        #expect(fixture.radio.keys.count == 2)
    }

    // MARK: What was heard

    @Test func `The card says which tags are phones, and again when a key or the list of tags changes`() throws {
        let uuid = PhoneKey(Self.key).uuid
        let fixture = try ServiceFixture("rooms: {},", in: directory)
        func phones() throws -> [[String]] {
            try fixture.availability.messages.filter { $0.topic == "ibeacon-rooms/home/gateway/hall" }
                .map { try JSONValue(parsing: $0.payload)["phones"]?.array?.compactMap(\.string) ?? [] }
        }
        func sendTags(_ uuids: [BeaconUUID]) {
            let list = TagList(uuids.map { BeaconID(uuid: $0, major: 0, minor: 0) })
            send(list.payload, to: fixture, topic: "ibeacon-rooms/home/tags")
        }
        sendTags([uuid, BeaconUUID(high: 1, low: 2)])
        #expect(try phones() == [[]])
        try add()
        fixture.wait(.seconds(6))
        #expect(try phones() == [[], ["\(uuid)"]])
        // The same tags again.
        sendTags([BeaconUUID(high: 1, low: 2), uuid])
        #expect(try phones().count == 2)
        sendTags([BeaconUUID(high: 1, low: 2)])
        #expect(try phones() == [[], ["\(uuid)"], []])
        // As `rooms tags add` makes a tag of the line that `phones add` prints.
        let list = TagList(.init(1, "a"), [.init(uuid: uuid, major: nil, minor: nil, id: "jane", name: "Jane")])
        send(list.payload, to: fixture, topic: "ibeacon-rooms/home/tags")
        #expect(try phones().last == ["\(uuid)"])
    }

    @Test func `When a phone was heard last is known after a restart`() throws {
        try add()
        let fixture = try ServiceFixture("", in: directory)
        fixture.radio.phones = [PhoneHearing(phone: PhoneKey(Self.key), lastHeard: fixture.host.now)]
        fixture.wait(.seconds(100))
        fixture.service.app.stop()
        let next = try ServiceFixture("", in: directory)
        next.host.now = fixture.host.now.advanced(by: .seconds(50))
        let phone = try #require(next.service.snapshot(at: next.host.now).phones.first)
        #expect(phone.lastHeard.map { $0.duration(to: next.host.now).inSeconds.rounded() } == 150)
    }
}
