import Base
import Beacon
import RoomMessages
import Rooms
import SiteProtocol
import Testing

@testable import SiteCore

/// The gateways of a site are asked for beacons of their own, and hear each other.
@Suite struct SiteSurveyTests {
    // MARK: Off

    @Test func `Without the setting no gateway is asked, and nothing is published, stored or due for it`() throws {
        var house = SurveyedHouse(surveyors: [])
        house.live(minutes: 20)
        let list = try #require(house.fleet.retained[SiteFleet.listTopic])
        #expect(
            String(decoding: list, as: UTF8.self)
                == #"{"by":"a","tags":[{"id":"jane","major":1,"minor":7,"name":"Jane","uuid":"\#(SiteFleet.uuid.uppercased())"}],"v":1,"version":1}"#
        )
        #expect(house.fleet.lists.count == 1)
        let payload = #"{"listening":true,"problem":null,"room":"Hall","v":1}"#
        #expect(
            house.fleet.retained["ibeacon-rooms/home/health/hall"].map { String(decoding: $0, as: UTF8.self) }
                == payload)
        let site = try #require(house.fleet.services["a"])
        #expect(site.survey.due == nil && site.survey.standing.isEmpty && site.survey.stored.isEmpty)
        #expect(house.fleet.stored["a"]?.surveyMinors == [:])
    }

    // MARK: Who is asked

    @Test func `Each gateway that counts and has a room gets the smallest free minor, under the UUID of the site`() {
        let house = SurveyedHouse()
        #expect(house.listed?.minors == ["bath": 1, "hall": 2, "kitchen": 3, "study": 4])
        #expect(house.listed?.uuid == SurveyMinors(site: "home").uuid)
        #expect("\(SurveyMinors(site: "home").uuid)" == "D33B3AE7-A582-5F11-9B50-837F99FF0EA2")
        #expect(house.fleet.stored["a"]?.surveyMinors.count == 4)
    }

    @Test func `No scanner of Home Assistant, no node, and no gateway that does not count is asked`() {
        var house = SurveyedHouse()
        house.publish("gateway/scanner", #"{"v":1,"room":"Attic","version":"1","source":"B8:27:EB:00:22:01"}"#)
        house.publish("gateway/invented", #"{"v":1,"room":"Attic","scanner":"mgmt","version":"1.1"}"#)
        house.publish("gateway/closed", #"{"v":1,"room":"Attic"}"#)
        for _ in 0..<20 {
            house.live(seconds: 1)
            for gateway in ["scanner", "closed"] { house.say(gateway, []) }
        }
        #expect(house.listed?.minors.keys.sorted() == SurveyedHouse.gateways)
    }

    @Test func `A gateway keeps its minor, and one that is removed leaves its own to the next`() {
        var house = SurveyedHouse()
        house.present.removeAll { $0 == "hall" }
        house.publish("gateway/hall", "")
        house.live(seconds: 10)
        #expect(house.listed?.minors == ["bath": 1, "kitchen": 3, "study": 4])
        house.present.append("attic")
        house.live(seconds: 20)
        #expect(house.listed?.minors == ["attic": 2, "bath": 1, "kitchen": 3, "study": 4])
    }

    @Test func `A gateway that is off for a while keeps its minor`() {
        var house = SurveyedHouse()
        house.present.removeAll { $0 == "hall" }
        house.live(minutes: 60)
        #expect(house.listed?.minors["hall"] == 2)
    }

    @Test func `In a full list a gateway that is not known gives way, and else the new one is not asked`() {
        var minors = SurveyMinors(site: "home")
        let many = (1...256).map { "g\($0)" }
        #expect(minors.give(to: many, isKnown: { _ in true }) == [])
        #expect(minors.give(to: many + ["x", "y"], isKnown: { _ in true }) == ["x", "y"])
        #expect(minors.give(to: ["x", "y"], isKnown: { $0 != "g7" }) == ["y"])
        #expect(minors.minors["x"] == 7 && minors.minors["g7"] == nil && minors.minors.count == 256)
    }

    // MARK: Several services

    @Test func `The minors are the same after a restart, whatever the order of the gateways`() {
        var house = SurveyedHouse()
        house.present = ["study"]
        house.change { fleet in
            fleet.kill("a")
            fleet.run(60)
            fleet.start("a")
        }
        house.live(seconds: 30)
        #expect(house.listed?.minors == ["bath": 1, "hall": 2, "kitchen": 3, "study": 4])
    }

    @Test func `A standby takes the minors, and goes on with them`() {
        var house = SurveyedHouse(surveyors: ["a", "b"])
        house.change { $0.start("b", stored: SiteFleet.stored("Jane:7")) }
        house.present.append("attic")
        house.live(seconds: 20)
        #expect(house.fleet.role("b") == .standby)
        #expect(house.fleet.stored["b"]?.surveyMinors == house.listed?.minors && house.listed?.minors["attic"] == 5)
        let before = house.listed
        house.present = []
        house.change { fleet in
            fleet.kill("a")
            fleet.run(30)
        }
        #expect(house.fleet.role("b") == .active && house.listed == before)
    }

    @Test(arguments: [true, false])
    func `A list with other minors alone is no other list: its version stays, and two services come to rest`(
        isOnAtBoth: Bool
    ) {
        var house = SurveyedHouse(surveyors: isOnAtBoth ? ["a", "b"] : ["a"])
        house.change { $0.start("b", stored: SiteFleet.stored("Jane:7")) }
        house.live(seconds: 30)
        let before = (house.list?.version, house.fleet.lists.count)
        house.present.append("attic")
        house.live(minutes: 5)
        #expect(house.list?.version == before.0)
        // One list with the new gateway, and no answer to it.
        #expect(house.fleet.lists.dropFirst(before.1).map(\.by) == ["a"])
        #expect(house.fleet.services["b"]?.siteTags.list.question == nil)
        #expect(
            house.fleet.services["b"]?.siteTags.list.minors
                == (isOnAtBoth ? house.fleet.services["a"]?.siteTags.list.minors : nil))
    }

    @Test func `A tag that is added at a standby without the setting does not end the survey`() {
        var house = SurveyedHouse()
        house.change { $0.start("b", stored: SiteFleet.stored("Jane:7")) }
        house.live(seconds: 20)
        house.change { $0.edit("b", SiteFleet.change("Keys:8")) }
        house.live(seconds: 20)
        #expect(house.fleet.listed == [7, 8] && house.listed?.minors.count == 4)
        let count = house.fleet.lists.count
        house.live(minutes: 2)
        #expect(house.fleet.lists.count == count)
    }

    @Test
    func `A service that lost its state asks about no list of tags that it knows, and takes the minors of the list`() {
        var house = SurveyedHouse()
        house.change { fleet in
            fleet.kill("a")
            fleet.loseState(of: "a")
            fleet.start("a", configured: ["Jane:7"])
            fleet.run(10)
        }
        #expect(house.fleet.role("a") == .active && house.listed?.minors.count == 4)
        #expect(house.fleet.services["a"]?.siteTags.list.question == nil)
    }

    @Test func `A list of unknown origin changes no minor, and adds what is free`() {
        var minors = SurveyMinors(site: "home")
        _ = minors.give(to: ["bath", "hall"], isKnown: { _ in true })
        let forged = SurveyBeacons(uuid: minors.uuid, minors: ["bath": 2, "attic": 1, "study": 9])
        if let forged { minors.take(forged, isProved: false) }
        #expect(minors.minors == ["bath": 1, "hall": 2, "study": 9])
        if let forged { minors.take(forged, isProved: true) }
        #expect(minors.minors == ["bath": 2, "attic": 1, "study": 9])
        let other = SurveyBeacons(uuid: BeaconUUID(high: 1, low: 2), minors: ["x": 1])
        if let other { minors.take(other, isProved: true) }
        #expect(minors.minors.count == 3)
    }

    // MARK: What is heard

    @Test func `What gateways hear of each other is no reading of a tag, and each is heard by the others`() {
        var house = SurveyedHouse(isMeasured: false)
        house.live(minutes: 2)
        #expect(house.fleet.services["a"]?.engine.counters.readings == 0)
        #expect(SurveyedHouse.gateways.allSatisfy { house.health($0)?.survey == SurveyHealth(heardBy: 3) })
    }

    @Test func `A gateway is heard while its card says that it sends the beacon that is asked for`() {
        var house = SurveyedHouse(isMeasured: false)
        house.live(seconds: 20)
        house.refusing = ["hall"]
        house.silent = ["study"]
        house.live(minutes: 25)
        #expect(house.health("hall")?.survey?.heardBy == 0 && house.health("study")?.survey?.heardBy == 0)
        #expect(house.health("bath")?.survey?.heardBy == 3)
        // Whoever imitates the beacon is not believed.
        let beacon = house.listed?.beacon(of: "hall").map { "\($0)" } ?? ""
        for _ in 0..<5 {
            house.live(seconds: 1)
            house.say("bath", [#"{"id":"\#(beacon)","n":1,"rssi":-50,"max":-50,"power":-59,"age":12}"#])
        }
        house.live(minutes: 1)
        #expect(house.health("hall")?.survey?.heardBy == 0)
    }

    // MARK: What is found

    @Test func `A gateway that was moved is told once, with when and by how much, until it is back`() throws {
        var house = SurveyedHouse()
        house.covers["hall"] = 25
        house.live(minutes: 120)
        #expect(house.fleet.findings.count == 1)
        let finding = try #require(house.fleet.findings.first)
        #expect(finding.hasPrefix("the gateway hall and 3 of its 3 neighbours hear each other otherwise since "))
        #expect(finding.contains(": was it moved? ") && finding.contains("rooms gateways moved hall"), "\(finding)")
        let health = try #require(house.health("hall"))
        #expect(health.trouble == .moved && health.isListening)
        let change = try #require(health.survey?.change)
        #expect(change.kind == .moved && change.deviating == 3 && change.neighbours == 3 && change.decibels == -25)
        #expect(change.since.map { (1_700_000_000..<1_700_010_000).contains($0) } == true)
        house.covers = [:]
        house.live(minutes: 60)
        #expect(house.fleet.findings.count == 2)
        #expect(house.fleet.findings.last == "the gateway hall hears and is heard by its neighbours as before")
        #expect(house.health("hall")?.trouble == nil && house.health("hall")?.survey?.change == nil)
    }

    @Test(
        arguments: [
            (
                SurveyHealth.Change(.covered, since: nil, deviating: 4, neighbours: 4, decibels: -9), "14:05",
                "the gateway it's hears and is heard by its 4 neighbours 9 dB less since 14:05: was it covered?"
            ),
            (
                .init(.moved, since: nil, deviating: 2, neighbours: 3, decibels: 7), nil,
                "the gateway it's and 2 of its 3 neighbours hear each other otherwise, by 7 dB more in the middle: was it moved?"
            ),
        ] as [(SurveyHealth.Change, String?, String)])
    func `A change is asked as a question, and its answer is a command that a shell takes`(
        change: SurveyHealth.Change, since: String?, text: String
    ) {
        #expect(change.text(of: "it's", since: since) == text)
        #expect(change.remedy(of: "it's").contains(#"rooms gateways moved 'it'\''s'"#))
    }

    @Test func `A person says that the gateway is where it belongs, and is asked no more`() {
        var house = SurveyedHouse()
        house.covers["hall"] = 25
        house.live(minutes: 60)
        #expect(house.health("hall")?.trouble == .moved && house.fleet.findings.count == 1)
        house.change { $0.publish("ibeacon-rooms/home/learn", Array(#"{"gateway":"hall","moved":true}"#.utf8)) }
        #expect(house.health("hall")?.trouble == nil)
        #expect(
            house.fleet.stored["a"]?.surveyLevels.contains { $0.sender == "hall" || $0.receiver == "hall" } == false)
        house.live(minutes: 60)
        #expect(house.fleet.findings.count == 1 && house.health("hall")?.trouble == nil)
    }

    @Test func `After a restart no gateway seems moved, and one that was moved meanwhile does`() {
        for isMoved in [false, true] {
            var house = SurveyedHouse()
            house.live(minutes: 20)
            house.change { fleet in
                fleet.kill("a")
                fleet.run(3600)
                fleet.start("a")
            }
            if isMoved { house.covers["hall"] = 25 }
            house.live(minutes: 60)
            #expect(house.fleet.findings.count == (isMoved ? 1 : 0))
        }
    }

    @Test func `The levels are stored every quarter of an hour, and come back as they were`() throws {
        var house = SurveyedHouse()
        house.live(minutes: 30)
        let stored = try #require(house.fleet.stored["a"]?.surveyLevels)
        #expect(stored.count == 12)
        let value = StoredValue.surveyLevels(stored)
        let bytes = try #require(value.bytes(ofService: "owntracks/jane/rooms-home"))
        let key = ExactString(value.key(ofService: "owntracks/jane/rooms-home"))
        #expect(StoredValue.surveyLevels(in: [key: bytes]) == stored)
        let minors = StoredValue.surveyMinors(["bath": 1, "hall": 65_535])
        let minorKey = ExactString(minors.key(ofService: ""))
        #expect(
            StoredValue.surveyMinors(in: [minorKey: minors.bytes(ofService: "") ?? []]) == ["bath": 1, "hall": 65_535])
    }

    @Test(arguments: [
        "", "{}", #"{"v":2,"gateways":[],"pairs":[]}"#, #"{"v":1,"gateways":["a"],"pairs":[[0,1,-60,2,9]]}"#,
        #"{"v":1,"gateways":["a","b"],"pairs":[[0,-1,-60,2,9],[0,1],7,[0,1,"x",2,9],[0,9223372036854775807,-60,2,9]]}"#,
    ])
    func `Stored levels that cannot be read are measured again`(text: String) {
        let key = ExactString(StoredValue.surveyLevels([]).key(ofService: ""))
        #expect(StoredValue.surveyLevels(in: [key: Array(text.utf8)]) == [])
    }

    // MARK: How gateways measure

    @Test
    func `A gateway that measures less than the others is corrected by three quarters of that, and its health says so`()
        throws
    {
        // It was measured in an earlier run. In which time, `LevelSurveyTests` show.
        var house = SurveyedHouse(gains: ["study": -9])
        house.live(minutes: 20)
        #expect(house.health("study")?.survey?.offset == -5)
        #expect(house.health("hall")?.survey?.offset == 2)
        let site = try #require(house.fleet.services["a"])
        #expect(abs(try #require(site.survey.offsets["study"]) + 5.06) < 0.3)
    }

    // MARK: What they hear of each other

    @Test func `What the gateways hear of each other is known after a restart, without what a moved one hears`() throws
    {
        var house = SurveyedHouse()
        #expect(try #require(house.fleet.services["a"]).survey.between.pairs.count == 12)
        house.covers["hall"] = 25
        house.live(minutes: 60)
        let pairs = try #require(house.fleet.services["a"]).survey.between.pairs
        #expect(pairs.count == 6 && !pairs.contains { $0.sender == "hall" || $0.receiver == "hall" })
    }

    @Test func `A gateway whose card names another room than before is measured anew`() throws {
        for room in ["Hall", "Attic"] {
            var house = SurveyedHouse()
            house.rooms["hall"] = room
            house.live(minutes: 3)
            let pairs = try #require(house.fleet.services["a"]).survey.between.pairs
            #expect(pairs.count == (room == "Hall" ? 12 : 6), "\(room)")
            #expect(house.fleet.findings.isEmpty)
        }
    }

    // MARK: In a replay

    /// A day of a recording, in which the hall is covered at the end, with or without the list that asked the gateways.
    private func recording(isSurveyed: Bool) -> [String] {
        let house = SurveyedHouse.gateways
        let minors = Dictionary(zip(house, UInt16(1)...)) { first, _ in first }
        let beacons = SurveyBeacons(uuid: SurveyMinors(site: "home").uuid, minors: minors)
        let list = TagList(TagList.Version(1, "a"), [], survey: isSurveyed ? beacons : nil)
        func line(_ minute: Int, _ topic: String, _ payload: String) -> String {
            let text = payload.replacing("\"", with: "\\\"")
            return
                #"{"tst":\#(1_700_000_000 + 60 * minute),"topic":"ibeacon-rooms/home/\#(topic)","payload":"\#(text)"}"#
        }
        var lines = [line(0, "tags", String(decoding: list.payload, as: UTF8.self))]
        for gateway in house {
            let sending = SurveySending.sends(minor: minors[gateway] ?? 0, interval: 1000)
            let card = GatewayCard(room: RoomName(gateway), version: "1.1", scanner: "mgmt", survey: sending)
            lines.append(line(0, "gateway/\(gateway)", String(decoding: card.payload, as: UTF8.self)))
        }
        for minute in 0..<60 * 13 {
            for gateway in house {
                let heard = (beacons?.beacons(heardBy: gateway) ?? []).map { beacon -> String in
                    let isCovered = minute > 60 * 12 + 40 && (gateway == "hall" || beacon.minor == minors["hall"])
                    return #"{"id":"\#(beacon)","n":1,"rssi":\#(isCovered ? -85 : -60),"power":-59,"age":12}"#
                }
                lines.append(
                    line(
                        minute, "heard/\(gateway)",
                        #"{"v":1,"boot":"b","seq":\#(minute),"at":\#(60000 * minute),"listening":1000,"reports":40,"beacons":[\#(heard.joined(separator: ","))]}"#
                    ))
            }
        }
        return lines
    }

    @Test(arguments: [true, false])
    func `A replay finds what the service found, where the list of the recording asked the gateways`(
        isSurveyed: Bool
    ) throws {
        var replay = RoomReplay(SiteSettings())
        var found: [String] = []
        var published = 0
        for line in recording(isSurveyed: isSurveyed) {
            try replay.play(line: line.utf8, { _ in published += 1 }, { found.append($0.text) })
        }
        #expect(found.filter { $0.contains("hall") }.count == (isSurveyed ? 1 : 0), "\(found)")
        #expect(replay.site.engine.counters.readings == (isSurveyed ? 0 : 60 * 13 * 4 * 3 - 2 * 4 * 3))
    }
}
