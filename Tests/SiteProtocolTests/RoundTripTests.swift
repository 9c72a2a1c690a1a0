import Base
import Beacon
import JSON
import RoomsSupport
import SiteProtocol
import Testing

/// What one program of a site writes, another reads.
@Suite struct RoundTripTests {
    private static let beacons = [
        BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 7),
        BeaconID(uuid: BeaconUUID(high: .max, low: 0), major: 65_535, minor: 0),
    ]

    @Test(
        arguments: [
            .tags(site: "home"), .heard(site: "home", gateway: "k"), .card(site: "home", gateway: "k"),
            .learn(site: "home"), .refused(site: "home"), .answer(site: "home"),
            .service(site: "home", instance: "pi"),
            .tag(site: "home", tag: "jane"),
            .room(site: "home", room: "kitchen"), .health(site: "home", gateway: "k"), .nearbyRequest(site: "home"),
            .nearby(site: "home", gateway: "k"), .availability(gateway: "k"), .espresense(beacons[0], node: "attic"),
            .espresenseStatus(node: "attic"), .espresenseTelemetry(node: "attic"),
        ] as [RoomTopic])
    func `A topic is read as it was written`(_ topic: RoomTopic) {
        #expect(RoomTopic(topic.text) == topic)
    }

    private static let batteries: [UInt8?] = [nil, 0, 8, 100]

    private static func entries(_ count: Int) -> [HeardMessage.Entry] {
        (0..<count).map { index in
            HeardMessage.Entry(
                beacon: BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: UInt16(index)), count: 3,
                levels: index % 2 == 0 ? (-71, -68) : nil, measuredPower: MeasuredPower(dBm: -59),
                last: .zero.advanced(by: .milliseconds(100_880)), battery: batteries[index % batteries.count])
        }
    }

    @Test(arguments: [0, 1, 2, HeardMessage.mostBeacons, 2 * HeardMessage.mostBeacons + 1])
    func `The readings of a second are read as they were written`(_ count: Int) throws {
        let header = HeardMessage.Header(
            startID: "f3a9", at: .zero.advanced(by: .milliseconds(101_000)), listened: .milliseconds(990), reports: 41)
        let payloads = HeardMessage.payloads(header, firstSequence: 7, Self.entries(count))
        let seconds = try payloads.map { try FeedDecoder.heard($0) }
        #expect(try seconds == payloads.map { try FeedDecoder.heardInAnyForm($0) })
        let expected = Self.entries(count).indices.map { index in
            Reading(
                beacon: BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: UInt16(index)), count: 3,
                level: index % 2 == 0 ? -71 : nil, power: -59, age: .milliseconds(120),
                battery: Self.batteries[index % Self.batteries.count])
        }
        #expect(seconds.flatMap(\.readings) == expected)
        #expect(seconds.map(\.sequence) == (0..<Int64(seconds.count)).map { 7 + $0 })
        for second in seconds {
            #expect(
                second
                    == HeardSecond(
                        startID: "f3a9", sequence: second.sequence, at: .milliseconds(101_000),
                        listening: .milliseconds(990), reports: 41, readings: second.readings))
        }
    }

    @Test(arguments: [nil, "Kitchen", "Küche \"oben\""])
    func `The card of a gateway is read as it was written`(_ room: String?) throws {
        let card = GatewayCard(
            room: room.flatMap { RoomName($0) }, version: "1.0", scanner: "mgmt", since: 1_700_000_000)
        #expect(try FeedDecoder.card(card.payload) == card)
    }

    @Test func `The phones in the card of a gateway are read, those that are none are passed over, and 128 are taken`()
        throws
    {
        let uuids = (0..<200).map { BeaconUUID(high: 1, low: UInt64($0)) }
        let card = GatewayCard(room: "Kitchen", phones: Array(uuids.prefix(128)))
        #expect(try FeedDecoder.card(card.payload) == card)
        #expect(try FeedDecoder.card(GatewayCard(phones: uuids).payload).phones == Array(uuids.prefix(128)))
        let mixed = #"{"phones":["Jane",7,null,"\#(uuids[3])"]}"#
        #expect(try FeedDecoder.card(Array(mixed.utf8)).phones == [uuids[3]])
        #expect(try FeedDecoder.card(Array(#"{"phones":"all"}"#.utf8)).phones.isEmpty)
    }

    @Test
    func `The adapters in the card of a gateway and the radio in that of a scanner are read as they were written`()
        throws
    {
        let adapters = (0..<20).map { DeviceAddress(value: 0xb827_eb00_2200 + $0, isRandom: false) }
        let gateway = GatewayCard(room: "Kitchen", adapters: Array(adapters.prefix(16)))
        #expect(try FeedDecoder.card(gateway.payload) == gateway)
        #expect(try FeedDecoder.card(GatewayCard(adapters: adapters).payload).adapters == gateway.adapters)
        let scanner = GatewayCard(room: "Kitchen", source: adapters[1])
        #expect(try FeedDecoder.card(scanner.payload) == scanner)
        for text in [
            #""b827eb002201""#, #""B8:27:EB:00:22:0""#, #""B8:27:EB:00:22:0G""#, #""B8-27-EB-00-22-01""#,
            #""B827:EB:00:22:01:""#, #""+8:27:EB:00:22:01""#, "7", "null", "[]",
        ] {
            #expect(try FeedDecoder.card(Array(#"{"source":\#(text)}"#.utf8)).source == nil, "\(text)")
        }
        let mixed = #"{"adapters":["hci0",7,"b8:27:eb:00:22:03"]}"#
        #expect(try FeedDecoder.card(Array(mixed.utf8)).adapters == [adapters[3]])
    }

    @Test(arguments: [
        SurveySending.sends(minor: 3, interval: 1000),
        .refused(minor: 65_535, reason: "the controller has no advertising sets"),
    ])
    func `What became of the beacon of a gateway is read from its card as it was written`(_ sending: SurveySending)
        throws
    {
        let card = GatewayCard(room: .named("Kitchen"), survey: sending)
        #expect(try FeedDecoder.card(card.payload) == card)
    }

    @Test(arguments: [#"{}"#, #"{"minor":0,"interval":1000}"#, #"{"minor":3,"interval":0}"#, #"{"minor":3}"#, "7"])
    func `A card counts without a member that says nothing of its beacon`(_ survey: String) throws {
        let card = try FeedDecoder.card(Array(#"{"room":"Kitchen","survey":\#(survey)}"#.utf8))
        #expect(card == GatewayCard(room: "Kitchen"))
    }

    @Test func `The beacons of the gateways are read from the list of tags as they were written`() throws {
        let uuid = try #require(BeaconUUID(Self.uuid))
        let survey = try #require(SurveyBeacons(uuid: uuid, minors: ["kitchen-pi": 1, "hall-pi": 2, "attic": 300]))
        let list = TagList(.init(1, "a"), [], survey: survey)
        #expect(try FeedDecoder.tags(list.payload) == list)
        #expect(survey.beacon(of: "hall-pi")?.description == "\(Self.uuid):0:2")
        #expect(survey.beacon(of: "cellar") == nil)
        #expect(survey.beacons(heardBy: "hall-pi").map(\.minor) == [1, 300])
        #expect(survey.gateway(sending: BeaconID(uuid: uuid, major: 0, minor: 300)) == "attic")
        #expect(survey.gateway(sending: BeaconID(uuid: uuid, major: 1, minor: 300)) == nil)
    }

    @Test(arguments: [
        #"{}"#, #"{"uuid":"Jane","gateways":{}}"#, #"{"uuid":"\#(uuid)"}"#, #"{"uuid":"\#(uuid)","gateways":{"a":0}}"#,
        #"{"uuid":"\#(uuid)","gateways":{"a":1,"b":1}}"#, #"{"uuid":"\#(uuid)","gateways":{"a":65536}}"#,
    ])
    func `A list with beacons of gateways that are none is refused`(_ survey: String) {
        let text = #"{"v":1,"tags":[],"survey":\#(survey)}"#
        #expect(throws: FeedError.self) { try FeedDecoder.tags(Array(text.utf8)) }
    }

    @Test func `The list of tags is read as it was written`() throws {
        #expect(try FeedDecoder.tags(TagList(Self.beacons).payload).beacons == Self.beacons)
        #expect(try FeedDecoder.tags(TagList([]).payload).tags.isEmpty)
    }

    private static let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"

    /// Gateways of earlier versions refuse a list with a tag that has no major or minor, or with a name that is no name, and
    /// pass over members that they do not know. So such tags are in `patterns`, and such names are left out.
    @Test func `The list of the services is one that gateways of earlier versions read`() throws {
        let uuid = try #require(BeaconUUID(Self.uuid))
        let list = TagList(
            .init(7, "a"),
            [
                .init(uuid: uuid, major: 1, minor: 7, id: "jane", name: "Jane"),
                .init(uuid: uuid, major: 1, minor: 8, id: "bob", name: String(repeating: "b", count: 129)),
                .init(uuid: uuid, major: 2, minor: nil, id: "pets", name: "Pets"),
            ])
        let text =
            #"{"by":"a","patterns":[{"id":"pets","major":2,"name":"Pets","uuid":"\#(Self.uuid)"}],"tags":["#
            + #"{"id":"jane","major":1,"minor":7,"name":"Jane","uuid":"\#(Self.uuid)"},"#
            + #"{"id":"bob","major":1,"minor":8,"uuid":"\#(Self.uuid)"}],"v":1,"version":7}"#
        #expect(String(decoding: list.payload, as: UTF8.self) == text)
        #expect(try FeedDecoder.tags(list.payload) == list)
        #expect(list.beacons.map(\.description) == ["1:7", "1:8", "2:0"].map { "\(Self.uuid):\($0)" })
    }

    @Test func `A list without a version is that of an earlier version, and so is one whose number leaves none`() throws
    {
        let beacon = try #require(BeaconID("\(Self.uuid):1:7"))
        let old = #"{"tags":[{"major":1,"minor":7,"uuid":"\#(Self.uuid)"}],"v":1}"#
        #expect(String(decoding: TagList([beacon]).payload, as: UTF8.self) == old)
        for number in ["0", "-1", "4503599627370497", "1.5", "null"] {
            let text = #"{"version":\#(number),"by":"a","tags":[]}"#
            #expect(try FeedDecoder.tags(Array(text.utf8)).version.number == 0, "\(number)")
        }
    }

    @Test func `A list of the most tags with the longest names is one that is taken`() throws {
        let uuid = try #require(BeaconUUID(Self.uuid))
        let name = String(repeating: "\"", count: FeedDecoder.mostNameBytes)
        let tags = (0..<FeedDecoder.mostTags).map {
            TagList.Tag(
                uuid: uuid, major: 1, minor: UInt16($0), id: "\($0)-" + String(repeating: "i", count: 58), name: name)
        }
        #expect(try FeedDecoder.tags(TagList(.init(1, "a"), tags).payload).beacons.count == FeedDecoder.mostTags)
    }

    @Test(
        arguments: [
            .train(room: .named("Kitchen"), tag: "Jane", .seconds(120)), .forget(room: .named("kitchen")),
            .rename(room: .named("Hall"), to: .named("Küche")), .moved(gateway: "hall-pi"),
        ] as [FeedDecoder.LearnRequest])
    func `A request about a room is read as it was written`(_ request: FeedDecoder.LearnRequest) throws {
        #expect(try FeedDecoder.learn(request.payload) == request)
        let refusal = LearnRefusal(request, "there is no such room")
        #expect(try LearnRefusal(refusal.payload) == refusal)
        for answer in [
            LearnAnswer(request, .begun), LearnAnswer(request, .done, learned: 118.5), LearnAnswer(request, .nothing),
        ] {
            #expect(try LearnAnswer(answer.payload) == answer)
        }
    }

    @Test(arguments: [
        "", "{}", #"{"answer":"done"}"#, #"{"room":"Hall","forget":true}"#,
        #"{"answer":"perhaps","room":"Hall","forget":true}"#,
        #"{"answer":"done","learned":-1,"room":"Hall","forget":true}"#,
        #"{"answer":"done","learned":"x","room":"Hall","forget":true}"#,
    ])
    func `What does not say whether a request is carried out is refused`(_ payload: String) {
        #expect(throws: FeedError.self) { try LearnAnswer(Array(payload.utf8)) }
    }

    @Test(arguments: ["", "{}", #"{"refused":""}"#, #"{"refused":"no"}"#, #"{"room":"Hall","rename":"Den"}"#])
    func `What is no answer to a request is refused`(_ payload: String) {
        #expect(throws: FeedError.self) { try LearnRefusal(Array(payload.utf8)) }
    }

    @Test func `A request for other beacons and its answer are read as they were written`() throws {
        #expect(try FeedDecoder.nearbyRequest(NearbyRequest.payload(.seconds(60))) == .seconds(60))
        let readings = [
            NearbyReading(beacon: Self.beacons[0], level: -60, region: "Keys"),
            NearbyReading(beacon: Self.beacons[1], level: nil, region: nil),
        ]
        #expect(try FeedDecoder.nearby(NearbyReading.payload(readings)) == readings)
    }

    @Test(arguments: [
        ServiceCard(isActive: true, counter: 17, version: "1.0"), ServiceCard(isActive: false, counter: 0, version: ""),
        ServiceCard(isActive: false, counter: 0, version: "1.0", asksToAdopt: true),
    ])
    func `The card of a service is read as it was written`(_ card: ServiceCard) {
        #expect(ServiceCard(card.payload) == card)
    }

    @Test(arguments: ["", "{}", "null", #"{"v":1,"active":true,"counter":-1}"#, #"{"v":2,"active":true,"counter":1}"#])
    func `What is no card of a service is not read as one`(_ payload: String) {
        #expect(ServiceCard(Array(payload.utf8)) == nil)
    }

    @Test(arguments: [
        PublishedTag(
            name: "Jane", room: RoomName.named("Kitchen"), isHome: true, since: 1_700_000_000,
            confidence: 0.97),
        PublishedTag(name: "Jané", isHome: true, since: 1_700_000_000, confidence: 0.5), PublishedTag(name: ""), away,
    ])
    func `The state of a tag is read as it was written`(_ state: PublishedTag) {
        #expect(PublishedTag(state.json.bytes) == state)
    }

    private static var away: PublishedTag {
        var state = PublishedTag(name: "Jane", since: 1_700_000_000)
        (state.lastRoom, state.lastHeard) = (RoomName.named("Living room"), 1_699_999_900)
        return state
    }

    @Test(arguments: [
        #""lastRoom":"a/b","lastRoomName":"A""#, #""lastRoom":7"#, #""lastHeard":-1"#, #""lastHeard":"x""#,
    ])
    func `A last place that is none is not read`(_ members: String) {
        let state = PublishedTag(Array(#"{"name":"Jane","since":1,"confidence":1,"home":false,\#(members)}"#.utf8))
        #expect(state?.lastRoom == nil && state?.lastHeard == nil && state?.since == 1)
    }

    @Test(arguments: 0...100)
    func `The confidence of a tag is read as it was written`(percent: Int) {
        let state = PublishedTag(name: "Jane", isHome: true, confidence: Float(percent) / 100)
        #expect(state.percent == percent && PublishedTag(state.json.bytes) == state)
    }

    @Test(
        arguments: [
            (nil, nil), ("0", 0), ("-9", -9), ("99", 99), ("100", nil), ("-10", nil), ("null", nil), ("[]", nil),
        ] as [(String?, Int?)])
    func `A floor that is none is not read, neither in a card nor in the state of a room`(member: String?, floor: Int?)
        throws
    {
        let text = member.map { #","floor":\#($0)"# } ?? ""
        #expect(try FeedDecoder.card(Array(#"{"v":1,"room":"Kitchen"\#(text)}"#.utf8)).floor == floor)
        #expect(PublishedRoom(Array(#"{"name":"Kitchen","count":0,"tags":[]\#(text)}"#.utf8))?.floor == floor)
    }

    @Test func `The floor of a card is read as it was written, and a card without one is the same as before`() throws {
        let card = GatewayCard(room: .named("Cellar"), floor: -1)
        #expect(try FeedDecoder.card(card.payload) == card)
        #expect(String(decoding: card.payload, as: UTF8.self) == #"{"floor":-1,"room":"Cellar","v":1}"#)
        #expect(
            String(decoding: GatewayCard(room: .named("Cellar")).payload, as: UTF8.self) == #"{"room":"Cellar","v":1}"#)
    }

    @Test(arguments: [
        PublishedRoom(name: "Kitchen", count: 0, tags: []),
        PublishedRoom(name: "Cellar", count: 1, tags: ["Jane"], floor: -1),
        PublishedRoom(name: "Küche \"oben\"", count: 70, tags: (0..<50).map { "Tag \($0)" }),
    ])
    func `The state of a room is read as it was written`(_ state: PublishedRoom) {
        #expect(PublishedRoom(state.payload) == state)
    }

    @Test(arguments: [
        HealthMessage(room: "Kitchen", isListening: true, trouble: nil),
        HealthMessage(room: "Kitchen", isListening: false, trouble: .notListening),
        HealthMessage(room: nil, isListening: false, trouble: .wrongKey),
        HealthMessage(room: "Hall", isListening: true, trouble: nil, survey: SurveyHealth(heardBy: 0)),
        HealthMessage(
            room: "Hall", isListening: true, trouble: .covered,
            survey: SurveyHealth(
                heardBy: 256, offset: -29,
                change: .init(.covered, since: 1_700_000_000, deviating: 4, neighbours: 5, decibels: -9))),
        HealthMessage(
            room: "Hall", isListening: true, trouble: .moved,
            survey: SurveyHealth(
                heardBy: 4, offset: 12, change: .init(.moved, since: nil, deviating: 2, neighbours: 3, decibels: 12))),
    ])
    func `What is said of a gateway is read as it was written`(_ message: HealthMessage) {
        #expect(HealthMessage(message.json.bytes) == message)
    }

    @Test(arguments: [
        "7", "{}", #"{"heardBy":-1}"#, #"{"heardBy":257}"#, #"{"heardBy":1.5}"#,
    ])
    func `What is said of a gateway counts without a survey that cannot be read`(_ survey: String) {
        let text = #"{"v":1,"room":"Hall","listening":true,"problem":null,"survey":\#(survey)}"#
        #expect(HealthMessage(Array(text.utf8)) == HealthMessage(room: "Hall", isListening: true, trouble: nil))
    }

    @Test(arguments: [
        #"{"heardBy":4,"offset":128}"#, #"{"heardBy":4,"offset":"x"}"#, #"{"heardBy":4,"change":{"kind":"lost"}}"#,
        #"{"heardBy":4,"change":{"kind":"moved","deviating":1,"neighbours":2,"decibels":1000}}"#,
    ])
    func `What a survey says wrongly of a gateway is left out`(_ survey: String) {
        let text = #"{"v":1,"room":"Hall","listening":true,"problem":null,"survey":\#(survey)}"#
        #expect(HealthMessage(Array(text.utf8))?.survey == SurveyHealth(heardBy: 4))
    }

    @Test func `A message is read by its topic, and an empty one removes what was retained`() throws {
        let state = PublishedTag(name: "Jane", isHome: true)
        #expect(try SiteMessage(.tag(site: "home", tag: "jane"), state.json.bytes) == .tag(id: "jane", .value(state)))
        #expect(try SiteMessage(.tag(site: "home", tag: "jane"), []) == .tag(id: "jane", .absent))
        #expect(try SiteMessage(.room(site: "home", room: "hall"), Array("{}".utf8)) == .room(id: "hall", .unreadable))
        #expect(try SiteMessage(.card(site: "home", gateway: "k"), []) == .card(gateway: "k", nil))
        #expect(try SiteMessage(.nearbyRequest(site: "home"), []) == nil)
        #expect(try SiteMessage(.refused(site: "home"), []) == nil)
        #expect(try SiteMessage(.answer(site: "home"), []) == nil)
        #expect(throws: FeedError.self) {
            try SiteMessage(.service(site: "home", instance: "pi"), Array("{}".utf8))
        }
    }

    @Test(arguments: [("online", true), ("\"online\"", true), ("offline", false), ("", nil), ("x", nil)])
    func `A gateway says whether it is connected`(_ text: String, _ isAvailable: Bool?) throws {
        #expect(
            try SiteMessage(.availability(gateway: "k"), Array(text.utf8))
                == .available(gateway: "k", isAvailable))
    }
}
