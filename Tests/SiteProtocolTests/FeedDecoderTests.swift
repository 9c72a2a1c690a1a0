import Beacon
import SiteProtocol
import Testing

/// What gateways publish.
@Suite struct FeedDecoderTests {
    @Test(
        arguments: [
            "", "null", "[]", "{}", #"{"v":2,"at":1,"beacons":[]}"#, #"{"v":1,"beacons":[]}"#,
            #"{"v":1,"at":-1,"beacons":[]}"#, #"{"v":1,"at":1e300,"beacons":[]}"#, #"{"v":1,"at":1,"beacons":{}}"#,
            #"{"v":1,"at":1,"beacons":[1]}"#, #"{"v":1,"at":1,"beacons":[{"id":"x"}]}"#,
            #"{"v":1,"at":1,"beacons":[{"id":"11112222-3333-4444-5555-666677778888:1:70000"}]}"#,
        ])
    func `A message that is not of the feed is refused, with its reason`(_ payload: String) {
        #expect(throws: FeedError.self) { try FeedDecoder.heard(payload.utf8) }
    }

    @Test func `The trial of doctor is ignored, and no other message of a version that is not known`() throws {
        let topic = RoomTopic.heard(site: "home", gateway: "k")
        #expect(try SiteMessage(topic, FeedDecoder.trial) == nil)
        for other in [#"{"v":0,"at":1}"#, #"{"v": 0}"#, #"{"v":2}"#] {
            #expect(throws: FeedError.self) { try SiteMessage(topic, Array(other.utf8)) }
        }
    }

    @Test(arguments: ["null", "\"loud\"", "1e9", "-500", "127"])
    func `A level that no radio measures is none`(_ level: String) throws {
        let second = try FeedDecoder.heard(
            #"{"v":1,"at":1,"beacons":[{"id":"11112222-3333-4444-5555-666677778888:1:7","rssi":\#(level)}]}"#.utf8)
        #expect(second.readings.count == 1)
        #expect(second.readings.first?.level == nil)
    }

    @Test(
        arguments: [
            ("ibeacon-rooms/home/tags", .tags(site: "home")),
            ("ibeacon-rooms/home/heard/k", .heard(site: "home", gateway: "k")),
            ("ibeacon-rooms/home/gateway/k", .card(site: "home", gateway: "k")),
            ("ibeacon-rooms/home/learn", .learn(site: "home")),
            ("ibeacon-rooms/home/nearby", .nearbyRequest(site: "home")),
            ("ibeacon-rooms/home/nearby/k", .nearby(site: "home", gateway: "k")),
            ("ibeacon-gateway/k/availability", .availability(gateway: "k")),
            ("espresense/rooms/attic/status", .espresenseStatus(node: "attic")),
            ("ibeacon-rooms/home/tag/jane", .tag(site: "home", tag: "jane")), ("ibeacon-rooms/home/heard/", nil),
            ("", nil),
            ("espresense/devices/iBeacon:nonsense-1-2/attic", .espresenseAlias("iBeacon:nonsense-1-2", node: "attic")),
            ("espresense/devices/keys:jane/hall", .espresenseAlias("keys:jane", node: "hall")),
            ("espresense/devices//hall", nil), ("espresense/devices/keys:jane/", nil),
            ("espresense/settings/keys:jane/config", nil), ("espresense/settings/irk:00112233/config", nil),
        ] as [(String, RoomTopic?)])
    func `Topics are told apart`(_ topic: String, _ expected: RoomTopic?) {
        #expect(RoomTopic(topic) == expected)
    }

    /// ESPresense's settings of a beacon, and the id that they give it.
    @Test(
        arguments: [
            (#"{"id":"keys:jane","name":"Keys of Jane"}"#, "keys:jane"),
            (#"{"name":"Keys of Jane","calRssi":-60}"#, nil),
            (#"{"id":""}"#, nil), ("", nil), ("{}", nil),
            // It is the beacon's own id.
            (#"{"id":"iBeacon:11112222-3333-4444-5555-666677778888-1-7"}"#, nil),
        ] as [(String, String?)])
    func `ESPresense's settings of a beacon say under which id nodes publish it`(payload: String, alias: String?) throws
    {
        let topic = try #require(
            RoomTopic("espresense/settings/iBeacon:11112222-3333-4444-5555-666677778888-1-7/config"))
        #expect(topic.text == "espresense/settings/iBeacon:11112222-3333-4444-5555-666677778888-1-7/config")
        let beacon = try #require(BeaconID("11112222-3333-4444-5555-666677778888:1:7"))
        #expect(try SiteMessage(topic, payload.utf8) == .alias(beacon, alias))
    }

    @Test(arguments: ["[]", "7", #"{"id":7}"#, "{"])
    func `Settings of a beacon that cannot be read are refused`(payload: String) throws {
        let topic = try #require(
            RoomTopic("espresense/settings/iBeacon:11112222-3333-4444-5555-666677778888-1-7/config"))
        #expect(throws: FeedError.self) { try SiteMessage(topic, payload.utf8) }
    }

    @Test(arguments: [#"{"room":"Kitchen","forget":false}"#, #"{"forget":true}"#, #"{"room":7,"forget":true}"#])
    func `A room is not forgotten by a request that does not name it`(_ payload: String) {
        #expect(throws: FeedError.self) { try FeedDecoder.learn(payload.utf8) }
    }

    @Test(
        arguments: [
            (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
            (String(repeating: "é", count: 32), true), (String(repeating: "é", count: 33), false),
            ("a" + String(repeating: "\u{301}", count: 1000), false),
        ] as [(String, Bool)])
    func `The boot of a gateway has at most 64 bytes, whatever its characters are`(_ startID: String, _ isTaken: Bool) {
        let payload = #"{"v":1,"boot":"\#(startID)","seq":1,"at":1,"listening":1000,"reports":1,"beacons":[]}"#
        #expect(((try? FeedDecoder.heard(Array(payload.utf8))) != nil) == isTaken)
    }

    @Test func `ESPresense names a beacon in its topic`() throws {
        guard
            case .espresense(let beacon, let node) = RoomTopic(
                "espresense/devices/iBeacon:11112222-3333-4444-5555-666677778888-1-7/attic")
        else {
            Issue.record("the topic was not understood")
            return
        }
        #expect(node == "attic")
        #expect(beacon.major == 1 && beacon.minor == 7)
        let second = try FeedDecoder.espresense(beacon, #"{"rssi":-71.2,"rssi@1m":-59,"distance":2.3}"#.utf8)
        #expect(second?.readings.first?.level == -71.2)
    }

    @Test func `What a service publishes in the place of an ESPresense node is no reading`() throws {
        let beacon = try #require(BeaconID("11112222-3333-4444-5555-666677778888:1:7"))
        for isNear in [true, false] {
            let node = VirtualNode(beacon, tag: "Jane", room: "Living room", isNear: isNear)
            #expect(
                node.topic.text == "espresense/devices/iBeacon:11112222-3333-4444-5555-666677778888-1-7/Living_20room")
            #expect(try SiteMessage(node.topic, node.payload) == nil)
        }
    }

    @Test func `Two names of another script do not become one room`() {
        #expect(RoomName.id(of: "Kitchen") == "kitchen")
        #expect(RoomName.id(of: "Living room") == "living-room")
        #expect(RoomName.id(of: "浴室") != RoomName.id(of: "寝室"))
        #expect(!RoomName.id(of: "…/#+").isEmpty)
    }

    @Test(
        arguments: [
            "", "null", "{}", #"{"v":1}"#, #"{"v":2,"beacons":[]}"#, #"{"v":1,"beacons":[{}]}"#,
            #"{"v":1,"beacons":[{"id":"11112222-3333-4444-5555-666677778888:1:70000"}]}"#,
            #"{"v":1,"beacons":["#
                + Array(repeating: #"{"id":"11112222-3333-4444-5555-666677778888:1:7"}"#, count: 21)
                .joined(separator: ",") + "]}",
        ])
    func `A message about beacons that are no tags is refused unless it is whole`(_ payload: String) {
        #expect(throws: FeedError.self) { try FeedDecoder.nearby(payload.utf8) }
    }

    @Test func `Beacons that are no tags are read as they were written`() throws {
        let beacon = try #require(BeaconID("11112222-3333-4444-5555-666677778888:1:7"))
        let readings = [
            NearbyReading(beacon: beacon, level: -60, region: "Keys"),
            NearbyReading(beacon: beacon, level: nil, region: nil),
        ]
        #expect(try FeedDecoder.nearby(NearbyReading.payload(readings)) == readings)
        #expect(try FeedDecoder.nearbyRequest(NearbyRequest.payload(.seconds(60))) == .seconds(60))
    }
}
