import Base
import Configuration
import JSON
import Messaging
import PageServer
import ServiceSupport
import Shell
import SiteCore
import TestSupport
import Testing

@testable import RoomsApp

/// The page of the rooms service: what it shows, and what can be requested there.
@Suite struct SitePageTests {
    private let directory: TemporaryDirectory
    private let fixture: RoomServiceFixture
    private let page: any PageSource

    init() throws {
        directory = try TemporaryDirectory()
        fixture = try RoomServiceFixture(in: directory)
        page = try #require(fixture.status.page)
        fixture.wait(.seconds(15))
    }

    private func state() -> JSONValue { page.pageState() }

    private func get(_ path: String, _ arguments: [String: String]) -> PageAnswer? {
        page.read(PageRequest(path: path) { arguments[$0] })
    }

    private func reasons(_ id: String) -> String {
        guard case .json(let json)? = get("/tag.json", ["id": id]) else { return "" }
        return (json["reasons"]?.array ?? []).compactMap(\.string).joined(separator: " ")
    }

    private func result(_ room: String) -> String {
        guard case .json(let json)? = get("/room.json", ["id": room, "tag": "jane"]) else { return "" }
        return (json["result"]?.array ?? []).compactMap(\.string).joined(separator: " ")
    }

    private func refusal(_ answer: PageAnswer?) -> String? {
        if case .refused(_, let reason)? = answer { reason } else { nil }
    }

    private func findings() -> [String] {
        (state()["findings"]?.array ?? []).compactMap { $0["text"]?.string }
    }

    private func card(_ gateway: Int, version: String) {
        fixture.receive(
            "ibeacon-rooms/home/gateway/g\(gateway)",
            #"{"v":1,"room":"\#(RoomServiceFixture.rooms[gateway])","version":"\#(version)","scanner":"mgmt"}"#,
            isRetained: true)
    }

    @Test func `The card of another gateway is asked of the program, with the configuration of the service`() {
        #expect(get("/gateway.json", ["room": "Attic"]) == nil)
        fixture.service.offer = { configuration, request in
            .json([
                "site": .string(configuration.rooms?.site ?? ""), "room": .string(request.argument("room") ?? ""),
            ])
        }
        #expect(get("/gateway.json", ["room": "Attic"]) == .json(["site": "home", "room": "Attic"]))
    }

    // MARK: What is shown

    @Test func `A tag stands in its room, with what is believed of it and since when`() {
        fixture.stay(in: 0, seconds: 20)
        let state = state()
        let tag = state["tags"]?["jane"]
        #expect(tag?["roomName"]?.string == "Kitchen" && tag?["home"]?.asBool == true)
        #expect((tag?["belief"]?["kitchen"]?.asNumber ?? 0) > 0.85)
        #expect((tag?["since"]?.asInteger ?? 0) > 0)
        #expect(state["rooms"]?["kitchen"]?["count"]?.asInteger == 1)
        #expect(state["rooms"]?["kitchen"]?["tags"] == ["Jane"])
        #expect(state["role"]?.string == "active" && state["site"]?.string == "home")
    }

    @Test func `While the broker is away nothing of gateways is concluded, and what was known looks stale`() {
        fixture.stay(in: 0, seconds: 20)
        #expect(state()["tags"]?["jane"]?["stale"] == false && state()["current"] == true)
        fixture.broker.lose()
        fixture.settle()
        fixture.wait(.seconds(120))
        let away = state()
        #expect(away["current"] == false && away["listening"]?.asInteger == 0)
        #expect(away["tags"]?["jane"]?["stale"] == true && away["tags"]?["jane"]?["confidence"] == .null)
        #expect(away["rooms"]?["kitchen"]?["stale"] == true)
        #expect(away["gateways"]?["g0"]?["stale"] == true && away["gateways"]?["g0"]?["health"]?["problem"] == .null)
        #expect(away["findings"]?.array?.map { $0["subject"]?.string } == ["broker"])
    }

    @Test func `A page that is not served is told by the service`() {
        let reason = "the status page cannot listen on 127.0.0.1:8081: Address already in use"
        #expect(!findings().contains(reason))
        fixture.status.pageProblem = (reason, "end it")
        #expect(findings().contains(reason))
    }

    @Test func `A tag that only gateways heard which do not listen any more is as last known, and so is their room`() {
        fixture.stay(in: 0, seconds: 20)
        for gateway in 0..<2 {
            fixture.receive("ibeacon-gateway/g\(gateway)/availability", "offline", isRetained: false)
        }
        fixture.receive("ibeacon-gateway/g2/availability", "offline", isRetained: false)
        fixture.wait(.seconds(2))
        let state = state()
        #expect(state["rooms"]?["kitchen"]?["stale"] == true)
        #expect(state["tags"]?["jane"]?["stale"] == true && state["tags"]?["jane"]?["confidence"] == .null)
        #expect(state["current"] == true)
    }

    @Test func `A service whose messages the broker does not take says so, is not active, and blames no gateway`() {
        fixture.stay(in: 0, seconds: 5)
        fixture.broker.returns = { _ in false }
        fixture.wait(.seconds(30))
        let refused = state()
        #expect(refused["role"] == "refused")
        #expect(findings().contains { $0.contains("does not accept what this service writes") })
        #expect(refused["findings"]?.array?.allSatisfy { $0["subject"] == "service" } == true)
        #expect(page.pageMetrics(ClientCounters()).contains("ibeacon_rooms_active 0"))
        fixture.broker.returns = { $0.contains("/service/") }
        fixture.wait(.seconds(5))
        #expect(state()["role"] == "active")
        #expect(page.pageMetrics(ClientCounters()).contains("ibeacon_rooms_active 1"))
    }

    @Test func `The last five minutes of a tag are drawn from the states that the page was sent`() {
        for _ in 0..<4 {
            fixture.stay(in: 0, seconds: 5)
            _ = state()
        }
        let series = (state()["tags"]?["jane"]?["series"]?["kitchen"]?.string ?? "").split(separator: ",")
        #expect((3...6).contains(series.count), "\(series)")
        #expect(series.last == "100" || (Int(series.last ?? "") ?? 0) > 85)
    }

    @Test func `What is published at once is shown at once`() {
        let before = fixture.status.changes
        fixture.stay(in: 0, seconds: 5)
        #expect(fixture.status.changes > before)
    }

    @Test func `A gateway shows its health and its version, and one of another version is named`() {
        for gateway in 0...2 { card(gateway, version: gateway == 1 ? "0.0.9" : "0.1.0") }
        fixture.stay(in: 0, seconds: 3)
        let gateways = state()["gateways"]
        #expect(gateways?["g0"]?["health"]?["listening"]?.asBool == true)
        #expect(gateways?["g0"]?["version"]?.string == "0.1.0" && gateways?["g0"]?["otherVersion"]?.asBool == false)
        #expect(gateways?["g1"]?["otherVersion"]?.asBool == true)
        #expect(findings().contains { $0.contains("another version") && $0.contains("g1") && !$0.contains("g0") })
    }

    @Test func `Of a thousand gateways and rooms the page lists those that matter, and says how many there are`() {
        fixture.stay(in: 0, seconds: 20)
        for number in 0..<1000 {
            fixture.receive("ibeacon-rooms/home/gateway/a\(number)", #"{"v":1,"room":"A room \#(number)"}"#)
        }
        for _ in 0..<3 {
            fixture.stay(in: 0, seconds: 1)
            for number in 0..<999 {
                fixture.receive("ibeacon-rooms/home/heard/a\(number)", Self.heard(at: fixture.host.now))
            }
        }
        fixture.receive("ibeacon-gateway/a999/availability", "offline")
        let state = state()
        let all = (rooms: state["roomCount"]?.asInteger ?? 0, gateways: state["gatewayCount"]?.asInteger ?? 0)
        #expect(all.rooms > 1000 && all.gateways > 1000)
        #expect(state["rooms"]?.object?.count == SiteSnapshot.listedRooms)
        #expect(state["gateways"]?.object?.count == SiteSnapshot.listedGateways)
        #expect(state["rooms"]?["kitchen"]?["tags"] == ["Jane"])
        #expect(state["gateways"]?["a999"]?["health"]?["problem"]?.string == "offline")
    }

    private static func heard(at now: MonotonicInstant) -> String {
        let milliseconds = now.nanoseconds / 1_000_000
        return
            #"{"v":1,"boot":"b","seq":\#(milliseconds),"at":\#(milliseconds),"listening":1000,"reports":4,"beacons":[]}"#
    }

    @Test func `A gateway that falls silent is named, and one that the broker says is gone differs from it`() {
        fixture.stay(in: 0, seconds: 3)
        #expect(!findings().contains { $0.contains("g0") })
        fixture.receive("ibeacon-gateway/g1/availability", "offline", isRetained: true)
        fixture.wait(.seconds(40))
        #expect(state()["gateways"]?["g0"]?["health"]?["problem"]?.string == "silent")
        #expect(state()["gateways"]?["g1"]?["health"]?["problem"]?.string == "offline")
        #expect(findings().contains { $0.contains("sends no readings") && $0.contains("g0") && !$0.contains("g1") })
    }

    @Test func `A scanner that is left out is shown, and is no finding`() {
        fixture.receive(
            "ibeacon-rooms/home/gateway/g0", #"{"v":1,"room":"Hall","source":"B8:27:EB:00:22:01"}"#, isRetained: true)
        fixture.receive(
            "ibeacon-rooms/home/gateway/g1", #"{"v":1,"room":"Study","adapters":["B8:27:EB:00:22:01"]}"#,
            isRetained: true)
        fixture.stay(in: 0, seconds: 5)
        #expect(state()["gateways"]?["g0"]?["health"]?["problem"]?.string == "sameRadio")
        #expect(!findings().contains { $0.contains("g0") })
    }

    @Test func `A tag that no gateway ever heard is named an hour after the start, and not once it was heard`() {
        fixture.loseMessages(seconds: 3500)
        fixture.hearNothing(seconds: 3)
        #expect(!findings().contains { $0.contains("never heard") })
        fixture.loseMessages(seconds: 120)
        #expect(!findings().contains { $0.contains("never heard") }, "no gateway listens")
        fixture.hearNothing(seconds: 3)
        #expect(findings().contains("never heard: Jane"))
        fixture.stay(in: 0, seconds: 20)
        fixture.hearNothing(seconds: 60)
        #expect(state()["tags"]?["jane"]?["home"] == false)
        #expect(!findings().contains { $0.contains("never heard") })
    }

    @Test func `Without a broker the page says so`() {
        fixture.broker.lose()
        fixture.settle()
        #expect(state()["broker"]?["state"]?.string == "disconnected")
        #expect(state()["findings"]?.array?.first?["level"]?.string == "error")
    }

    @Test func `The reasons of a tag name who hears it and what is probable`() {
        #expect(reasons("jane") == "No gateway hears it.")
        fixture.stay(in: 0, seconds: 10)
        let reasons = reasons("jane")
        #expect(reasons.contains("Heard by g0 at -50 dBm, g1 at -75 dBm"), "\(reasons)")
        #expect(reasons.contains("Probable rooms: Kitchen"))
        if case .json(let tag)? = get("/tag.json", ["id": "jane"]) { #expect(tag["configured"] == true) }
        #expect(get("/tag.json", ["id": "nobody"]) == .refused(status: 404, "there is no such tag"))
        #expect(get("/tag.json", [:]) == .refused(status: 400, "say which: /tag.json?id=ID"))
    }

    @Test func `A version of any length is cut`() {
        let name = String(repeating: "x", count: 100)
        fixture.receive("ibeacon-rooms/home/gateway/g9", #"{"v":1,"room":"\#(name)","version":"\#(name)"}"#)
        #expect(state()["gateways"]?["g9"]?["version"]?.string?.count == 64)
    }

    // MARK: Training

    @Test func `Training goes over the broker, so that a standby learns as well`() throws {
        let body = JSONValue.object(["room": "Kitchen", "tag": "jane", "seconds": 120])
        #expect(page.change("/learn", body) == .done)
        let message = try #require(fixture.broker.messages.last { $0.topic == "ibeacon-rooms/home/learn" })
        #expect(!message.isRetained)
        fixture.receive("ibeacon-rooms/home/learn", String(decoding: message.payload, as: UTF8.self))
        fixture.stay(in: 0, seconds: 10)
        let training = state()["tags"]?["jane"]?["training"]
        #expect(training?["roomName"]?.string == "Kitchen" && training?["over"]?.asBool == false)
        #expect((105...111).contains(training?["left"]?.asNumber ?? 0), "\(String(describing: training))")
        #expect(reasons("jane").contains("It is training Kitchen for another"))
    }

    @Test func `The result of a training run names the rooms that are not trained yet`() {
        fixture.receive("ibeacon-rooms/home/learn", #"{"room":"Kitchen","tag":"jane","seconds":30}"#)
        fixture.stay(in: 0, seconds: 32)
        #expect(state()["tags"]?["jane"]?["training"]?["over"]?.asBool == true)
        #expect(result("kitchen").contains("Not trained yet: Hall, Bath."), "\(result("kitchen"))")
        fixture.receive("ibeacon-rooms/home/learn", #"{"room":"Hall","tag":"jane","seconds":30}"#)
        fixture.stay(in: 1, seconds: 32)
        #expect(result("kitchen").contains("Kitchen is well told apart from Hall."), "\(result("kitchen"))")
    }

    @Test func `Rooms in which the same is heard are called hard to distinguish`() {
        for room in ["Kitchen", "Larder"] {
            fixture.receive("ibeacon-rooms/home/learn", #"{"room":"\#(room)","tag":"jane","seconds":30}"#)
            fixture.stay(in: 0, seconds: 32)
        }
        #expect(result("kitchen").contains("Kitchen and Larder are hard to distinguish"), "\(result("kitchen"))")
    }

    @Test func `A tag that was hardly heard during its training is said to be`() {
        fixture.receive("ibeacon-rooms/home/learn", #"{"room":"Kitchen","tag":"jane","seconds":60}"#)
        fixture.stay(in: 0, seconds: 10)
        fixture.wait(.seconds(60))
        #expect(result("kitchen").contains("of 60 seconds only"), "\(result("kitchen"))")
    }

    @Test func `Without a broker, and without such a tag, nothing is trained`() {
        let body = JSONValue.object(["room": "Kitchen", "tag": "nobody", "seconds": 120])
        #expect(refusal(page.change("/learn", body)) == "there is no such tag")
        #expect(refusal(page.change("/learn", ["room": "Kitchen"]))?.contains("'tag'") == true)
        fixture.broker.lose()
        fixture.settle()
        let good = JSONValue.object(["room": "Kitchen", "tag": "jane", "seconds": 120])
        #expect(refusal(page.change("/learn", good)) == "there is no connection to the broker")
    }

    @Test func `A room that was only trained is gone when its training is forgotten`() throws {
        fixture.receive("ibeacon-rooms/home/learn", #"{"room":"Larder","tag":"jane","seconds":30}"#)
        fixture.stay(in: 0, seconds: 20)
        fixture.receive("ibeacon-rooms/home/learn", #"{"room":"Larder","tag":"jane","seconds":0}"#)
        fixture.stay(in: 1, seconds: 20)
        #expect(state()["rooms"]?["larder"] != nil)
        #expect(page.change("/rooms/forget", ["id": "larder"]) == .done)
        let request = try #require(fixture.published("ibeacon-rooms/home/learn").last)
        fixture.receive("ibeacon-rooms/home/learn", request)
        #expect(state()["rooms"]?["larder"] == nil)
        #expect(refusal(page.change("/rooms/forget", ["id": "attic"])) == "there is no such room")
    }

    // MARK: Tags

    private func add(_ name: String, minor: Int) -> PageAnswer? {
        page.change("/tags", ["name": .string(name), "beacon": .string("\(RoomServiceFixture.uuid):1:\(minor)")])
    }

    @Test func `A new tag is kept, and gateways are told of it`() throws {
        #expect(add("Keys", minor: 9) == .done)
        fixture.settle()
        #expect(state()["tags"]?["keys"]?["beacon"]?.string?.hasSuffix(":1:9") == true)
        #expect(fixture.published("ibeacon-rooms/home/tags").last?.contains(#""minor":9"#) == true)
        fixture.service.app.stop()
        let after = try RoomServiceFixture(in: directory)
        #expect(after.service.site.tags.map(\.id).contains("keys"))
    }

    @Test func `Before the state was read no tag is changed, so that none is lost`() throws {
        #expect(add("Keys", minor: 9) == .done)
        fixture.service.app.stop()
        let after = try RoomServiceFixture(in: directory, isRunning: false)
        let early = try #require(after.status.page)
        let body = JSONValue.object(["name": "Bag", "beacon": .string("\(RoomServiceFixture.uuid):1:10")])
        #expect(refusal(early.change("/tags", body)) == "the service has not read its state yet")
        after.settle()
        #expect(early.change("/tags", body) == .done)
        #expect(Set(after.service.site.tags.map(\.id)) == ["jane", "keys", "bag"])
    }

    @Test func `A service that lost its state asks on its page and in the metrics, until it may adopt the site's list`()
        throws
    {
        let other = try TemporaryDirectory()
        let fixture = try RoomServiceFixture(in: other, isRunning: false, returnsCards: false, tags: "")
        let page = try #require(fixture.status.page)
        fixture.settle()
        #expect(refusal(page.change("/tags/adopt", .object([:])))?.contains("has not arrived yet") == true)
        fixture.broker.returns = { $0.contains("/service/") }
        fixture.receive(
            "ibeacon-rooms/home/tags",
            #"{"v":1,"tags":[{"uuid":"\#(RoomServiceFixture.uuid)","major":1,"minor":7}]}"#, isRetained: true)
        fixture.wait(.seconds(60))
        let finding = page.pageState()["findings"]?.array?.first
        #expect(finding?["cure"]?.string?.contains("rooms tags adopt") == true)
        #expect(page.pageState()["adopt"] == true && fixture.published("ibeacon-rooms/home/tags").isEmpty)
        #expect(page.pageMetrics(ClientCounters()).contains("ibeacon_rooms_waits_for_adoption 1"))
        #expect(page.change("/tags/adopt", .object([:])) == .done)
        fixture.wait(.seconds(5))
        #expect(page.pageState()["adopt"] == false && page.pageState()["role"]?.string == "active")
        #expect(page.pageMetrics(ClientCounters()).contains("ibeacon_rooms_waits_for_adoption 0"))
        #expect(fixture.published("ibeacon-rooms/home/tags").last?.contains(#""minor":7"#) == true)
        fixture.service.app.stop()
        let after = try RoomServiceFixture(in: other, tags: "")
        after.wait(.seconds(5))
        #expect(after.service.site.role == .active && after.service.site.tags.count == 1)
    }

    @Test func `A tag that gets another name stays the same tag, where it is`() throws {
        #expect(add("Keys", minor: 9) == .done)
        #expect(page.change("/tags/rename", ["id": "keys", "name": "Car keys"]) == .done)
        fixture.settle()
        #expect(state()["tags"]?["keys"]?["name"]?.string == "Car keys")
        #expect(fixture.service.site.tags.count == 2)
        fixture.service.app.stop()
        let after = try RoomServiceFixture(in: directory)
        let tags = after.service.site.tags
        #expect(tags.contains { $0.id == "keys" && $0.name == "Car keys" } && tags.count == 2)
    }

    @Test func `A tag that came by setWaypoints keeps its id under its new name`() {
        fixture.receive("owntracks/jane/rooms-home/cmd", RoomServiceFixture.command(adding: "Keys", minor: 9))
        #expect(page.change("/tags/rename", ["id": "keys", "name": "Car keys"]) == .done)
        #expect(fixture.service.site.tags.map(\.id) == ["jane", "keys"])
        #expect(state()["tags"]?["keys"]?["name"]?.string == "Car keys")
    }

    @Test func `A tag that is removed is gone, with its retained state`() {
        #expect(add("Keys", minor: 9) == .done)
        #expect(page.change("/tags/remove", ["id": "keys"]) == .done)
        fixture.settle()
        #expect(state()["tags"]?["keys"] == nil)
        #expect(fixture.published("ibeacon-rooms/home/tag/keys").last == "")
    }

    @Test func `A tag of the configuration file cannot be changed here, as it would come back`() {
        #expect(state()["tags"]?["jane"]?["configured"]?.asBool == true)
        #expect(refusal(page.change("/tags/remove", ["id": "jane"]))?.contains("configuration file") == true)
        #expect(refusal(page.change("/tags/rename", ["id": "jane", "name": "J"]))?.contains("configuration") == true)
        #expect(fixture.service.site.tags.count == 1)
    }

    @Test(
        "What is no tag is refused, with the reason",
        arguments: [
            ("", "X:1:2", "a name has"), ("a:b", "X:1:2", "a name has"), ("+a", "X:1:2", "a name has"),
            (String(repeating: "x", count: 129), "X:1:2", "a name has"), ("Keys", "X:1:2", "is not a beacon"),
            ("Keys", "CA271EAE-5FA8-4E80-8F08-2A302A95A959:1", "is not a beacon"),
            ("Keys", "CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:70000", "is not a beacon"),
            ("Keys", "CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7", "the tag 'Jane' already"),
            ("jane", "CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:9", "there is a tag 'Jane' already"),
        ])
    func refusedTags(name: String, beacon: String, reason: String) {
        let answer = page.change("/tags", ["name": .string(name), "beacon": .string(beacon)])
        #expect(refusal(answer)?.contains(reason) == true, "\(String(describing: answer))")
        #expect(fixture.service.site.tags.count == 1)
    }

    @Test func `Nothing is at an unknown path, and a missing member is named`() {
        #expect(page.change("/nothing", [:]) == nil)
        #expect(get("/nothing", [:]) == nil)
        #expect(refusal(page.change("/tags", ["name": "x"])) == "the member 'beacon' is missing")
        #expect(refusal(page.change("/tags/rename", ["id": "jane"])) == "the member 'name' is missing")
    }

    // MARK: Metrics

    @Test func `Every metric has help, a type and a fitting suffix`() {
        fixture.stay(in: 0, seconds: 10)
        let text = page.pageMetrics(ClientCounters(streams: 1, dropped: 2))
        var kinds: [String: String] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("# TYPE ") {
            let words = line.split(separator: " ").map(String.init)
            kinds[words[2]] = words[3]
        }
        #expect(kinds.count > 15)
        for (name, kind) in kinds {
            #expect(name.hasPrefix("ibeacon_rooms_") || name.hasPrefix("process_"), "\(name)")
            #expect((kind == "counter") == name.hasSuffix("_total"), "\(name)")
            #expect(text.contains("# HELP \(name) "))
        }
        #expect(text.contains("ibeacon_rooms_active 1\n"))
        #expect(text.contains(#"ibeacon_rooms_room_tags{id="kitchen",room="Kitchen"} 1"#), "\(text)")
        #expect(text.contains(#"ibeacon_rooms_gateway_listening{gateway="g0"} 1"#))
    }

    // MARK: Settings

    @Test func `The page has the port of the rooms service and a cookie of its own`() {
        #expect(fixture.status.settings?.entrance == .port(.rooms))
        #expect(fixture.status.settings?.cookieName == "ibeacon_rooms")
        #expect(fixture.status.settings?.token != nil)
    }

    @Test func `The page's files are small, and name no other place`() {
        let files = page.pageFiles
        #expect(files.reduce(0) { $0 + $1.content.count } < 100_000)
        for file in files {
            let text = String(decoding: file.content, as: UTF8.self).split(separator: "http://www.w3.org/").joined()
            #expect(!text.contains("http://") && !text.contains("https://") && !text.contains("innerHTML"))
        }
        #expect(Set(files.map(\.path)).isSuperset(of: ["/", "/base.js", "/rooms.js", "/page.css", "/rooms.css"]))
    }

    // MARK: Beacons that are no tags

    private static let other = "\(RoomServiceFixture.uuid):2:5"

    private func hear(_ beacons: String..., by gateway: String = "g1", level: Int = -55) {
        let list = beacons.map { #"{"id":"\#($0)","rssi":\#(level),"region":"Bikes"}"# }.joined(separator: ",")
        fixture.receive("ibeacon-rooms/home/nearby/\(gateway)", #"{"v":1,"beacons":[\#(list)]}"#)
    }

    @Test func `The page asks gateways for beacons, and lists them with the nearest room`() {
        hear(Self.other)
        #expect(state()["nearby"] == .null)
        #expect(page.change("/nearby", [:]) == .done)
        fixture.settle()
        let request = fixture.broker.messages.last { $0.topic == "ibeacon-rooms/home/nearby" }
        #expect(request.map { String(decoding: $0.payload, as: UTF8.self) } == #"{"seconds":60,"v":1}"#)
        #expect(request?.isRetained == false)
        #expect(state()["nearby"]?["beacons"] == [])
        hear(Self.other)
        hear(Self.other, by: "g2", level: -80)
        fixture.wait(.seconds(5))
        let nearby = state()["nearby"]
        #expect(nearby?["left"] == 55)
        let beacon = nearby?["beacons"]?.array?.first
        #expect(beacon?["id"]?.string == Self.other)
        #expect(beacon?["room"] == "Hall" && beacon?["gateway"] == "g1" && beacon?["dBm"] == -55)
        #expect(beacon?["tag"] == .null && beacon?["region"] == "Bikes")
        #expect(beacon?["since"]?.asNumber == 5)
    }

    @Test func `A beacon becomes a tag, and is marked as one`() {
        #expect(page.change("/nearby", [:]) == .done)
        hear(Self.other)
        #expect(page.change("/tags", ["name": "Bike", "beacon": .string(Self.other)]) == .done)
        fixture.settle()
        #expect(state()["nearby"]?["beacons"]?.array?.first?["tag"] == "Bike")
        #expect(fixture.service.site.tags.count == 2)
    }

    @Test func `Without a broker no beacons can be asked for`() {
        fixture.broker.lose()
        fixture.settle()
        #expect(refusal(page.change("/nearby", [:])) == "there is no connection to the broker")
    }

    @Test func `A message about beacons that is malformed changes nothing`() {
        #expect(page.change("/nearby", [:]) == .done)
        for payload in ["x", #"{"v":1,"beacons":[{"id":"x"}]}"#, #"{"v":1}"#] {
            fixture.receive("ibeacon-rooms/home/nearby/g1", payload)
        }
        #expect(state()["nearby"]?["beacons"] == [])
    }

    // MARK: What cannot be read

    @Test func `Topics below espresense with messages that cannot be read are listed with the reason`() {
        let node = "espresense/devices/iBeacon:\(RoomServiceFixture.uuid.lowercased())-1-7/attic"
        let long = "espresense/devices/" + String(repeating: "x", count: 200) + "/attic"
        fixture.receive(node, #"{"rssi":"loud"}"#)
        fixture.receive(long, #"{"rssi":-60}"#)
        // ESPresense's own settings of a phone.
        fixture.receive("espresense/settings/irk:0123/config", #"{"id":"phone:jane"}"#)
        fixture.wait(.seconds(2))
        fixture.receive(node, #"{"rssi":-60"#)
        let topics = state()["malformed"]?.array ?? []
        #expect(topics.map { $0["count"] } == [2, 1])
        #expect(topics.first?["topic"] == .string(node) && topics.first?["ago"]?.asNumber == 0)
        #expect(topics.first?["reason"]?.string?.hasPrefix("not JSON") == true)
        #expect(topics.last?["topic"]?.string?.hasPrefix("espresense/devices/xxx") == true)
        #expect(topics.last?["reason"] == "its topic is none of ESPresense's")
        #expect(
            page.pageMetrics(ClientCounters()).contains(
                #"ibeacon_rooms_messages_refused_total{reason="malformed"} 3"#))
    }

    // MARK: A room that is renamed

    /// The request that the page sent last comes back from the broker, as to every service of the site.
    private func receiveRequest() {
        let sent = fixture.broker.messages.last { $0.topic == "ibeacon-rooms/home/learn" }
        fixture.receive("ibeacon-rooms/home/learn", String(decoding: sent?.payload ?? [], as: UTF8.self))
        fixture.wait(.seconds(2))
    }

    @Test func `The page asks whether a room was renamed, and takes the answer`() {
        fixture.receive("ibeacon-rooms/home/gateway/g1", #"{"v":1,"room":"Kitchen"}"#)
        fixture.receive("ibeacon-rooms/home/learn", #"{"room":"Kitchen","tag":"jane","seconds":30}"#)
        fixture.stay(in: 0, seconds: 40)
        #expect(state()["roomQuestions"] == [])
        fixture.receive("ibeacon-rooms/home/gateway/g0", #"{"v":1,"room":"Lounge"}"#)
        let question = state()["roomQuestions"]?.array?.first
        #expect(question?["from"] == "kitchen" && question?["toName"] == "Lounge" && question?["gateways"] == ["g0"])
        #expect(findings().contains { $0.contains("'Lounge'") && $0.contains("'Kitchen'") })
        #expect(state()["gateways"]?["g0"]?["formerRoom"] == "Kitchen")
        #expect(refusal(page.change("/rooms/rename", ["from": "kitchen", "to": " "])) != nil)
        #expect(refusal(page.change("/rooms/rename", ["from": "nowhere", "to": "Den"])) == "there is no such room")
        #expect(page.change("/rooms/rename", ["from": "kitchen", "to": "Lounge"]) == .done)
        receiveRequest()
        #expect(state()["roomQuestions"] == [])
        #expect(state()["tags"]?["jane"]?["roomName"] == "Lounge")
    }

    @Test func `The page takes the answer that a gateway was carried`() {
        fixture.receive("ibeacon-rooms/home/gateway/g1", #"{"v":1,"room":"Kitchen"}"#)
        fixture.receive("ibeacon-rooms/home/learn", #"{"room":"Kitchen","tag":"jane","seconds":30}"#)
        fixture.stay(in: 0, seconds: 40)
        fixture.receive("ibeacon-rooms/home/gateway/g0", #"{"v":1,"room":"Lounge"}"#)
        #expect(state()["roomQuestions"]?.array?.count == 1)
        #expect(
            refusal(page.change("/gateways/moved", ["gateway": "g1"])) == "there is no question whether g1 was carried"
        )
        #expect(page.change("/gateways/moved", ["gateway": "g0"]) == .done)
        receiveRequest()
        #expect(state()["roomQuestions"] == [] && state()["tags"]?["jane"]?["roomName"] == "Kitchen")
    }
}
