import Base
import JSON
import RoomsApp
import Shell
import SiteCore
import SiteProtocol
import System
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

    @Test func `A tag with a low battery is named, and the others are not`() throws {
        func tag(_ name: String, _ more: String) -> String {
            #"{"name":"\#(name)","room":null,"roomName":null,"since":1,"confidence":1,"home":false\#(more)}"#
        }
        let retained = [
            Self.root + "tag/jane": tag("Jane", #","lowBattery":8"#), Self.root + "tag/john": tag("John", ""),
            Self.root + "tag/max": tag("Max", #","lowBattery":101"#),
        ]
        let status = SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
        let text = status.text(now: 61)
        #expect(text.contains("\n\nthe battery of Jane is low, 8 %: replace it\n\n"), "\(text)")
        #expect(!text.contains("of John") && !text.contains("of Max"), "\(text)")
        #expect(try status.tag("jane").sentences(now: 61) == "Jane is away for 1 min. Its battery is low, 8 %.")
    }

    @Test func `The availability of a gateway is found under the topic of its deviceId`() throws {
        let card = Self.root + "gateway/" + TopicIdentifier.identifier(of: "pi/1")
        let retained = [card: #"{"v":1,"room":"Attic"}"#, "ibeacon-gateway/pi%2F1/availability": "offline"]
        let status = SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
        #expect(status.gateways.map(\.availability) == ["offline"])
    }

    @Test func `Only locations of tags in the list of the site are deleted, and none if the list does not name them`() {
        let topics = ["tags", "tag/jane", "tag/phone", "room/kitchen"].map { Self.root + $0 }
        func locations(_ topics: [String], _ tags: String?) -> [String]? {
            let list = tags.map { Array(#"{"v":1,"version":1,"by":"a","tags":[\#($0)]}"#.utf8) }
            return RoomsClearCommand.locations(topics, list: list, user: "house")
        }
        func tag(_ members: String) -> String {
            #"{"uuid":"11112222-3333-4444-5555-666677778888","major":1,"minor":7\#(members)}"#
        }
        #expect(locations(topics, tag(#","id":"jane""#)) == ["owntracks/house/jane"])
        #expect(locations(topics, "") == [])
        #expect(locations(topics, tag("")) == nil, "the list of an earlier version has no ids")
        #expect(locations(topics, nil) == nil)
        #expect(locations([topics[0]], nil) == [], "without states of tags there is nothing to say")
    }

    @Test(arguments: [
        (
            #"{"site":"home","role":"refused","findings":[{"subject":"service","level":"error","text":"not taken","cure":"rights"}]}"#,
            "not taken: rights"
        ),
        (
            #"{"site":"home","role":"standby","findings":[{"subject":"broker","level":"error","text":"b: away","cure":"look"}]}"#,
            "b: away: look"
        ),
        (#"{"site":"home","role":"active","findings":[]}"#, "check the rights to read"),
    ])
    func `Where the rooms service of this machine runs, nobody is told to start one`(answer: String, words: String)
        throws
    {
        var status = SiteStatus([:], closed: [:], site: "home")
        #expect(status.text(now: 0).contains("start one with"))
        status.localService = LocalRoomsService(try JSONValue(parsing: answer), site: "home")
        #expect(status.text(now: 0).contains(words), "\(status.text(now: 0))")
        #expect(!status.text(now: 0).contains("start one with"))
    }

    @Test(arguments: [#"{"site":"other","role":"active"}"#, #"{"version":"1"}"#, "{}", "5"])
    func `What is no rooms service of the site says nothing`(answer: String) throws {
        #expect(LocalRoomsService(try JSONValue(parsing: answer), site: "home") == nil)
    }

    // MARK: Tags

    private static let now: Int64 = 1_700_010_000

    /// - Parameter members: The members of the retained state beside the name.
    private func status(_ members: String) -> SiteStatus {
        let retained = [
            Self.root + "tag/bunch-of-keys": #"{"name":"Bunch of keys",\#(members)}"#,
            Self.root + "service/a": #"{"v":1,"active":true,"counter":1,"version":"1"}"#,
        ]
        return SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
    }

    static let kitchen =
        #""room":"kitchen","roomName":"Kitchen","since":1700009940,"confidence":0.97,"home":true"#
    static let gone =
        #""room":null,"roomName":null,"since":1700002800,"confidence":1,"home":false,"lastRoom":"hall","lastRoomName":"Hall","lastHeard":1700002740"#

    @Test(arguments: [
        (kitchen, "Bunch of keys is in Kitchen for 1 min, 97 % sure."),
        (
            gone,
            "Bunch of keys is away for 2 h 0 min. It was last in Hall. A gateway last heard it on 2023-11-14 22:59:00 (UTC), 2 h 1 min ago."
        ),
        (#""home":false,"since":0"#, "Bunch of keys is away."),
        (
            #""home":true,"since":1700009990,"lastRoom":"hall","lastRoomName":"Hall""#,
            "Bunch of keys is at home for 10 s; the room is not known yet. It was last in Hall."
        ),
    ])
    func `A tag that is looked for is in a room, or was last in one`(members: String, text: String) throws {
        for name in ["Bunch of keys", "bunch-of-keys", "BUNCH OF KEYS"] {
            #expect(try status(members).tag(name).sentences(now: Self.now) == text)
        }
    }

    @Test func `A tag that does not exist is named, with one that is like it`() {
        let error = #expect(throws: Failure.self) { try status(Self.gone).tag("Bunch of key") }
        #expect(error?.message.contains("did you mean 'Bunch of keys'") == true, "\(error?.message ?? "")")
    }

    @Test func `The table of tags says where a tag that is away was last`() {
        #expect(status(Self.gone).text(now: Self.now).contains("away, last in Hall"))
        #expect(status(Self.kitchen).text(now: Self.now).contains("Kitchen"))
    }

    @Test func `A gateway that does not share the keys of phones is named with its version, if others share them`() {
        var retained = [
            Self.root + "gateway/hall": #"{"v":1,"room":"Hall","version":"0.1.0"}"#,
            "ibeacon-gateway/hall/availability": "online",
            Self.root + "gateway/attic": #"{"v":1,"room":"Attic","version":"0.1.0"}"#,
            "ibeacon-gateway/attic/availability": "offline",
            Self.root + "gateway/kitchen": #"{"v":1,"room":"Kitchen","version":"1.0.0"}"#,
            "ibeacon-gateway/kitchen/availability": "online",
        ]
        func remarks(closed: [String: SealError] = [:]) -> [String] {
            SiteStatus(retained.mapValues { Array($0.utf8) }, closed: closed, site: "home").remarks
        }
        #expect(remarks().isEmpty)
        // Whoever has not the site's key sees that there is a list.
        let unreadable = remarks(closed: [Self.root + "phones/kitchen": .noKey])
        retained[Self.root + "phones/kitchen"] = "{}"
        for remarks in [remarks(), unreadable] {
            #expect(remarks.count == 1)
            #expect(remarks.first?.hasPrefix("no keys of phones are shared by hall (0.1.0): ") == true, "\(remarks)")
        }
    }

    @Test func `A scanner that is left out is shown as such, and needs no advice`() throws {
        let health = #"{"v":1,"room":"Hall","listening":false,"problem":"sameRadio"}"#
        let retained = [
            Self.root + "service/a": #"{"v":1,"active":true,"counter":1,"version":"1"}"#,
            Self.root + "health/ha-1": health,
        ]
        let status = SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
        #expect(try status.gateway("ha-1").state == "left out")
        #expect(status.gatewayAdvice.isEmpty)
    }

    @Test(arguments: [3, 1000])
    func `Many gateways with one problem have one advice, which names a few of them`(count: Int) {
        var retained = [Self.root + "service/a": #"{"v":1,"active":true,"counter":1,"version":"1"}"#]
        for number in 0..<count {
            retained[Self.root + "health/g\(number)"] = #"{"v":1,"room":"Hall","listening":false,"problem":"offline"}"#
            retained[Self.root + "room/r\(number)"] = #"{"count":0,"name":"Room \#(number)","tags":[]}"#
        }
        let status = SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
        #expect(status.gatewayAdvice.count == (count == 3 ? 3 : 1))
        #expect(status.remarks.count == (count == 3 ? 3 : 1))
        #expect(status.gatewayAdvice.last?.text.contains("and 995 more") == (count == 1000))
    }

    // MARK: The survey

    private static let surveyed = [
        root + "service/a": #"{"v":1,"active":true,"counter":1,"version":"1"}"#,
        root + "tags":
            #"{"v":1,"version":1,"by":"a","tags":[],"survey":{"uuid":"D33B3AE7-A582-5F11-9B50-837F99FF0EA2","gateways":{"attic":1,"bath":2,"hall":3}}}"#,
        root + "gateway/attic": #"{"v":1,"room":"Attic","version":"1.1","survey":{"minor":1,"interval":1000}}"#,
        root + "gateway/bath":
            #"{"v":1,"room":"Bath","version":"1.1","survey":{"minor":2,"refused":"the controller has no room"}}"#,
        root + "gateway/hall": #"{"v":1,"room":"Hall","version":"1.1"}"#,
        root + "health/attic":
            #"{"v":1,"room":"Attic","listening":true,"problem":null,"survey":{"heardBy":2,"offset":-5}}"#,
        root + "health/bath": #"{"v":1,"room":"Bath","listening":true,"problem":null,"survey":{"heardBy":0}}"#,
        root + "health/hall":
            #"{"v":1,"room":"Hall","listening":true,"problem":"covered","survey":{"heardBy":2,"offset":0,"change":{"kind":"covered","deviating":4,"neighbours":4,"decibels":-9}}}"#,
    ]

    @Test func `Each gateway is shown with its own beacon, who hears it, and what it is asked`() throws {
        let status = SiteStatus(Self.surveyed.mapValues { Array($0.utf8) }, closed: [:], site: "home")
        let text = status.gatewaysText
        #expect(text.contains("BEACON"))
        #expect(try status.gateway("attic").beacon == "sends every 1000 ms, heard by 2, measures 5 dB less")
        #expect(try status.gateway("bath").beacon == "refused: the controller has no room, heard by 0")
        #expect(try status.gateway("hall").beacon == "asked for, not confirmed, heard by 2")
        #expect(try status.gateway("hall").state == "covered?")
        #expect(
            status.gatewayAdvice.map(\.sentence) == [
                "the gateway hall hears and is heard by its 4 neighbours 9 dB less: was it covered? If so, take away what "
                    + "covers it, and this ends by itself. If it is to stay so: sudo ibeacon-gateway rooms gateways moved hall"
            ])
        #expect(status.gatewaysJSON["attic"]?["asked"] == 1 && status.gatewaysJSON["attic"]?["survey"]?["minor"] == 1)
    }

    @Test func `Without a survey nothing is said of it`() throws {
        let health = #"{"v":1,"room":"Hall","listening":true,"problem":null}"#
        let retained = [
            Self.root + "service/a": #"{"v":1,"active":true,"counter":1,"version":"1"}"#,
            Self.root + "health/hall": health, Self.root + "gateway/hall": #"{"v":1,"room":"Hall","version":"1.1"}"#,
        ]
        let status = SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
        #expect(!status.gatewaysText.contains("BEACON") && !status.gatewaysText.contains("%"))
        #expect(status.gatewaysJSON["hall"]?["asked"] == nil)
    }

    // MARK: Reasons, nodes, rooms

    @Test(arguments: [(2, 2, 2), (2, 1, 0), (20, 20, 20), (21, 21, 0)])
    func `The reasons of all tags are shown, or of none`(tags: Int, answers: Int, shown: Int) {
        var retained = [Self.root + "service/a": #"{"v":1,"active":true,"counter":1,"version":"1"}"#]
        for number in 0..<tags { retained[Self.root + "tag/t\(number)"] = #"{"name":"T\#(number)","home":true}"# }
        var status = SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
        var asked = 0
        status.addReasons { tag in
            asked += 1
            return asked <= answers ? ["It is heard by \(tag)."] : nil
        }
        let text = status.text(now: 0)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("T") && $0.contains(": It is heard by t") }
        #expect(lines.count == shown)
        #expect(text.contains("the page of the service shows") == (tags > SiteStatus.mostReasons))
    }

    @Test func `What ESPresense calls a tag is shown, and which ids nobody knows`() {
        let uuid = "11112222-3333-4444-5555-666677778888"
        let retained = [
            Self.root + "tags":
                #"{"v":1,"version":1,"by":"a","tags":[{"uuid":"\#(uuid)","major":1,"minor":7,"id":"jane","name":"Jane"}]}"#,
            "espresense/settings/iBeacon:\(uuid)-1-7/config": #"{"id":"keys:jane"}"#,
            "espresense/settings/iBeacon:\(uuid)-1-8/config": #"{"id":"keys:neighbour"}"#,
        ]
        var status = SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
        status.unread.unknownIDs = ["keys:bob"]
        let text = status.text(now: 0)
        #expect(text.contains("ESPresense nodes call Jane 'keys:jane'") && text.contains("'keys:bob'"))
        #expect(!text.contains("neighbour"))
        #expect(status.json["aliases"]?["Jane"] == "keys:jane" && status.json["unknownIds"] == ["keys:bob"])
    }

    @Test func `An id that ESPresense gives to two beacons is that of neither, and is no unknown id`() {
        let uuid = "11112222-3333-4444-5555-666677778888"
        let retained = [
            Self.root + "tags":
                #"{"v":1,"version":1,"by":"a","tags":[{"uuid":"\#(uuid)","major":1,"minor":7,"id":"jane","name":"Jane"},{"uuid":"\#(uuid)","major":1,"minor":8,"id":"bob","name":"Bob"},{"uuid":"\#(uuid)","major":1,"minor":9,"id":"eve","name":"Eve"}]}"#,
            "espresense/settings/iBeacon:\(uuid)-1-7/config": #"{"id":"keys:x"}"#,
            "espresense/settings/iBeacon:\(uuid)-1-8/config": #"{"id":"keys:x"}"#,
            "espresense/settings/iBeacon:\(uuid)-1-9/config": #"{"id":"keys:eve"}"#,
        ]
        var status = SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
        status.unread.unknownIDs = ["keys:x", "keys:y"]
        let remarks = status.nodeRemarks
        #expect(remarks.count == 3 && remarks[0] == "ESPresense nodes call Eve 'keys:eve'", "\(remarks)")
        #expect(remarks[1].contains("several beacons 'keys:x', among them Bob, Jane"), "\(remarks)")
        #expect(remarks[2].contains("'keys:y'") && !remarks[2].contains("'keys:x'"), "\(remarks)")
    }

    @Test func `The topics with messages that cannot be read are told, the latest first, and of many the first few`()
        throws
    {
        var status = SiteStatus([:], closed: [:], site: "home")
        status.unread.malformed = try (1...7).map { number in
            try #require(
                MalformedTopic([
                    "topic": .string("espresense/devices/\(number)/hall"), "reason": "not JSON",
                    "count": .integer(Int64(number)), "ago": .integer(Int64(number * 60)),
                ]))
        }
        let remarks = status.unread.remarks
        #expect(
            remarks.first
                == "what arrives on espresense/devices/1/hall cannot be read: not JSON (once, last 1 min 0 s ago)")
        #expect(remarks.count == 6 && remarks[4].contains("devices/5/hall") && remarks[4].contains("5 times"))
        #expect(remarks[5] == "2 more topics have messages that cannot be read; --json lists them")
        #expect(status.text(now: 0).contains("espresense/devices/1/hall"))
        #expect(status.json["malformed"]?.array?.count == 7)
        #expect(MalformedTopic(["topic": "x", "reason": "y", "count": 1]) == nil)
    }

    @Test func `The card of a service that does not change is named, and not believed`() throws {
        let retained = [
            Self.root + "service/attic-old": #"{"v":1,"active":true,"counter":17,"version":"1"}"#,
            Self.root + "service/vm": #"{"v":1,"active":true,"counter":1,"version":"1"}"#,
            Self.root + "gateway/attic": #"{"v":1,"room":"Attic"}"#,
            Self.root + "health/attic": #"{"v":1,"room":"Attic","listening":true,"problem":null}"#,
        ].mapValues { Array($0.utf8) }
        let both = SiteStatus(retained, closed: [:], site: "home", still: ["attic-old": .seconds(5)])
        let text = both.text(now: 0)
        #expect(
            text.hasPrefix(
                "site 'home': decided by vm\nthe card of attic-old has not changed for 5 s: this service seems to be dead\n"
            ),
            "\(text)")
        #expect(both.hasActiveService)
        #expect(both.json["services"]?["attic-old"]?["unchanged"]?.asNumber == 5)
        #expect(both.json["services"]?["vm"]?["unchanged"] == nil)
        let none = SiteStatus(
            retained, closed: [:], site: "home", still: ["attic-old": .seconds(10), "vm": .seconds(10)])
        #expect(none.text(now: 0).hasPrefix("site 'home': no rooms service is active; start one with"))
        #expect(none.text(now: 0).contains("the card of vm has not changed for 10 s"))
        #expect(none.gateways.first?.state == "unknown", "what a dead service published is old")
        let failure = #expect(throws: Failure.self) { try none.needActiveService() }
        #expect(failure?.code == .unavailable && failure?.message.contains("attic-old") == true)
    }

    @Test func `The rooms service of this machine is known to be active only if it says so of this site`() throws {
        func active(_ answer: String) throws -> Set<String> {
            LocalRoomsService.active(try JSONValue(parsing: answer), site: "home")
        }
        #expect(try active(#"{"site":"home","role":"active","instance":"vm"}"#) == ["vm"])
        #expect(try active(#"{"site":"home","role":"standby","instance":"vm"}"#) == [])
        #expect(try active(#"{"site":"home","role":"refused","instance":"vm"}"#) == [])
        #expect(try active(#"{"site":"attic","role":"active","instance":"vm"}"#) == [])
    }

    @Test func `The service's answer to a request is found, and that to another request is not`() {
        let request = FeedDecoder.LearnRequest.moved(gateway: "h")
        let other = FeedDecoder.LearnRequest.moved(gateway: "k")
        func reply(_ messages: (RoomTopic, [UInt8])...) -> LearnReply {
            var reply = LearnReply(to: request)
            for (topic, payload) in messages { reply.take(topic, payload) }
            return reply
        }
        let (refused, answer) = (RoomTopic.refused(site: "home"), RoomTopic.answer(site: "home"))
        #expect(reply((refused, LearnRefusal(request, "no").payload)).refusal == "no")
        #expect(!reply((refused, LearnRefusal(other, "no").payload), (refused, [0x7b])).isOver)
        #expect(reply((answer, LearnAnswer(request, .done).payload)).answer?.outcome == .done)
        #expect(!reply((answer, LearnAnswer(other, .done).payload), (answer, [0x7b])).isOver)
        // An answer on the topic of the other kind is none.
        #expect(!reply((refused, LearnAnswer(request, .done).payload), (.learn(site: "home"), request.payload)).isOver)
    }

    @Test func `A run is over with the answer that comes after it has begun`() throws {
        let hall = try #require(RoomName("Hall"))
        let request = FeedDecoder.LearnRequest.train(room: hall, tag: "Jane", .seconds(2))
        var reply = LearnReply(to: request)
        func take(_ outcome: LearnAnswer.Outcome, _ learned: Double? = nil) {
            reply.take(.answer(site: "home"), LearnAnswer(request, outcome, learned: learned).payload)
        }
        // The run of another person, which this one ends.
        take(.done, 40)
        take(.begun)
        #expect(reply.hasBegun && !reply.isOver)
        take(.done, 1.5)
        #expect(reply.answer?.learned == 1.5)
    }

    @Test func `What was learned is said in seconds, and nothing is a failure`() throws {
        let hall = try #require(RoomName("Hall"))
        func said(_ outcome: LearnAnswer.Outcome, _ learned: Double?, of seconds: Int) throws(Failure) -> String {
            let request = FeedDecoder.LearnRequest.train(room: hall, tag: "Jane", .seconds(seconds))
            return try RoomsLearnCommand.result(
                of: LearnAnswer(request, outcome, learned: learned), hall, "Jane", .seconds(seconds))
        }
        #expect(try said(.done, 118.5, of: 120) == "Hall is learned: 118.50 s of readings of 'Jane'.")
        #expect(try said(.done, 7, of: 0) == "The training of Hall has ended: 7 s of readings of 'Jane' were learned.")
        for (seconds, words) in [(120, "no gateway that counts heard 'Jane'"), (0, "no training of Hall")] {
            let failure = #expect(throws: Failure.self) { try said(.nothing, 0, of: seconds) }
            #expect(failure?.code == .badData && failure?.message.contains(words) == true)
        }
    }

    /// A site of which a gateway of the hall names the lounge.
    private func askingSite() -> SiteStatus {
        let retained = [
            Self.root + "service/a": #"{"v":1,"active":true,"counter":1,"version":"1"}"#,
            Self.root + "room/office_room": #"{"name":"office_room","count":0,"tags":[]}"#,
            Self.root + "room/hall": #"{"name":"Hall","count":0,"tags":[]}"#,
            Self.root + "health/h": #"{"v":1,"room":"Lounge","listening":true,"problem":null,"formerRoom":"Hall"}"#,
            Self.root + "health/h2": #"{"v":1,"room":"Hall","listening":true,"problem":null}"#,
            Self.root + "health/o": #"{"v":1,"room":"Office Room","listening":true,"problem":null}"#,
        ]
        return SiteStatus(retained.mapValues { Array($0.utf8) }, closed: [:], site: "home")
    }

    @Test func `Whether a room was renamed is asked with the commands that answer it`() {
        let text = askingSite().text(now: 0)
        #expect(text.contains("ibeacon-gateway rooms rename Hall Lounge"), "\(text)")
        #expect(text.contains("ibeacon-gateway rooms gateways moved h"))
        #expect(!text.contains("office_room has no gateway"))
    }

    @Test func `A word of an answer is quoted for a shell`() throws {
        let question = RoomQuestion(
            from: try #require(RoomName("Bob's $(room)")), to: try #require(RoomName("Den")), gateways: ["h"])
        #expect(question.remedy.contains(#"rooms rename 'Bob'\''s $(room)' Den"#))
    }

    @Test func `A room is found by any form of its name, and a misspelt one gets a hint`() throws {
        let status = askingSite()
        #expect(try status.room("OFFICE ROOM").id == "office_room" && status.room("hall").name == "Hall")
        let error = #expect(throws: Failure.self) { try status.room("Hal") }
        #expect(error?.message.contains("did you mean 'Hall'") == true)
    }

    @Test func `A room that does not exist yet is made only by --new where nobody can be asked`() throws {
        func words(_ words: String...) throws -> Arguments {
            try ArgumentReader.read(
                ["learn", "Hal", "--tag", "Jane"] + words, for: RoomsCommand.specification, after: Arguments())
        }
        let silent = Dialogue(isInteractive: false)
        for (name, hint) in [("Hal", "; did you mean 'Hall'? The option --new"), ("Xyz", "'Xyz'. The option --new")] {
            let room = try #require(RoomName(name))
            let error = #expect(throws: Failure.self) {
                try RoomsLearnCommand.newRoom(room, askingSite(), words(), silent)
            }
            #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
            #expect(try RoomsLearnCommand.newRoom(room, askingSite(), words("--new"), silent) == room)
        }
    }

    @Test func `A renaming that no gateway has begun is refused`() throws {
        let (lounge, study) = (try #require(RoomName("Lounge")), try #require(RoomName("Study")))
        #expect(try askingSite().renamedRoom("hall", to: lounge).name == "Hall")
        let error = #expect(throws: Failure.self) { try askingSite().renamedRoom("hall", to: study) }
        #expect(error?.message.contains("h2 still calls it that") == true, "\(error?.message ?? "")")
        #expect(throws: Failure.self) { try askingSite().renamedRoom("Hall", to: #require(RoomName("HALL"))) }
        #expect(throws: Failure.self) { try askingSite().renamedRoom("Attic", to: lounge) }
    }
}
