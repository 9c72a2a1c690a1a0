import Base
import OwnTracks
import Regions
import RoomMessages
import RoomRules
import SiteCore
import SiteProtocol
import Testing

/// What this project and other programs say of the same recording.
@Suite struct RoomComparisonTests {
    private static let beacon = "11112222-3333-4444-5555-666677778888:1:7"
    /// 2026-11-21T20:00:00Z
    private static let start = 1_795_291_200

    private static func line(_ topic: String, _ payload: String, second: Int) -> String {
        #"{"tst":\#(start + second),"topic":"ibeacon-rooms/home/\#(topic)","qos":0,"retain":0,"payload":\#(payload)}"#
    }

    private static func heard(_ gateway: String, _ level: Int, second: Int) -> String {
        line(
            "heard/\(gateway)",
            #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[{"id":"\#(beacon)","n":3,"rssi":\#(level),"max":-50,"power":-59,"age":0}]}"#,
            second: second)
    }

    private static let head = [
        line(
            "tags",
            #"{"v":1,"version":1,"by":"a","tags":[{"uuid":"11112222-3333-4444-5555-666677778888","major":1,"minor":7,"id":"keys","name":"Keys"}]}"#,
            second: 0),
        line("gateway/k", #"{"v":1,"room":"Kitchen"}"#, second: 0),
        line("gateway/h", #"{"v":1,"room":"Hall"}"#, second: 0),
    ]

    /// The kitchen for half an hour, and the hall for another. Each ten minutes one second sounds like the other room.
    private static let hour =
        head
        + (1...3600).flatMap { second in
            let isLoud = (second <= 1800) != (second % 600 == 300)
            return [
                heard("k", isLoud ? -55 : -80, second: second), heard("h", isLoud ? -80 : -55, second: second),
            ]
        }

    /// The comparison of `hour`, which takes seconds of a processor, is made once.
    private static let hourCompared = Result { try played(hour) }

    private static func played(
        _ lines: [String], _ settings: SiteSettings = SiteSettings()
    ) throws -> RoomComparison {
        var comparison = RoomComparison(settings)
        comparison.beginRecording()
        for line in lines { try comparison.play(line: Array(line.utf8)) }
        return comparison
    }

    @Test func `Changes that are taken back within a minute are counted for each rule, and ours takes none back`()
        throws
    {
        let comparison = try Self.hourCompared.get()
        #expect(comparison.gatewayCount == 2 && comparison.seconds == 3600)
        let tag = try #require(comparison.results(truth: nil).first)
        #expect(tag.name == "Keys" && tag.readings == 7200)
        #expect(
            tag.lines.map(\.name) == [
                "ibeacon-gateway", "strongest packet, at most 10 s old", "Home Assistant mqtt_room", "Bermuda",
            ])
        // Six seconds in an hour sound like the other room; each is a change there and one back.
        #expect(tag.lines[1].takenBackPerDay == 6 * 24 && tag.lines[1].changesPerDay == 13 * 24)
        #expect(tag.lines[0].takenBackPerDay == 0 && tag.lines[0].changesPerDay == 24)
        #expect(tag.lines.allSatisfy { $0.truth == nil })
    }

    @Test func `Where it is known where the tag was, the share of right time, false changes and delays are told`()
        throws
    {
        let truth = try RoomTruth("\(Self.start),keys,Kitchen\n# a walk\n2026-11-21T20:30:00,Keys,Hall\n")
        let tag = try #require(try Self.hourCompared.get().results(truth: truth).first)
        let (own, strongest) = (try #require(tag.lines[0].truth), try #require(tag.lines[1].truth))
        #expect(own.falsePerDay == 0 && own.right > 0.98 && own.entries == 1 && own.never == 0)
        #expect((own.delay ?? .infinity) < 15)
        // Within 15 s after the tag has left a room, that room is no false one. No second here is so near.
        #expect(strongest.falsePerDay == 6 * 24 && strongest.right > 0.99)
    }

    @Test func `A pause of the recording is no part of it, and what is heard without a room is nobody's`() throws {
        var lines = Array(Self.hour.prefix(3 + 2 * 600))
        lines.append(Self.heard("attic", -30, second: 7000))
        let comparison = try Self.played(lines)
        #expect(comparison.seconds == 600 && comparison.gatewayCount == 2)
        #expect(comparison.results(truth: nil).first?.readings == 1200)
    }

    @Test func `A recording in which no tag is heard by a gateway with a room compares nothing`() throws {
        #expect(try Self.played(Self.head).results(truth: nil).isEmpty)
        #expect(RoomComparison(SiteSettings()).results(truth: nil).isEmpty)
    }

    @Test(arguments: [
        ("Kitchen", "line 1: it is not TIME,TAG,ROOM"), ("\nnow,keys,Hall", "line 2: 'now' is not a time"),
        ("1,,Hall", "line 1: it is not TIME,TAG,ROOM"), ("1,keys,\u{1}", "line 1: ' ' is no name of a room"),
    ])
    func `A line that does not say where a tag was is named`(text: String, reason: String) {
        let error = #expect(throws: FeedError.self) { try RoomTruth(text) }
        #expect(error.map { "\($0)".hasPrefix(reason) } == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func `From an empty room on it is not known where the tag was`() throws {
        let truth = try RoomTruth("0,keys,Hall\r\n10,keys,\n20,keys,Kitchen\n30,other,Hall\n30,keys,HALL")
        let rooms = ["hall": 0, "kitchen": 1]
        let parts = truth.stays(of: "Keys", id: "keys", rooms: rooms, in: [Self.part(0...40)])
        #expect(parts.map { $0.map(\.room) } == [[0], [1, 0]])
        #expect(parts.map { $0.map(\.to) } == [[10], [30, 40]])
        // A pause is no part of the recording, and the clock was set after it.
        let two = truth.stays(
            of: "keys", id: "", rooms: rooms, in: [Self.part(4...15), Self.part(80...90, offset: -55)])
        #expect(two.map { $0.map(\.room) } == [[0], [1, 0]])
        #expect(two.map { $0.map(\.from) } == [[4], [80, 85]] && two.map { $0.map(\.to) } == [[10], [85, 90]])
    }

    private static func part(_ seconds: ClosedRange<Int64>, offset: Int64 = 0) -> RecordedPart {
        RecordedPart(
            MonotonicInstant(nanoseconds: seconds.lowerBound * 1_000_000_000),
            MonotonicInstant(nanoseconds: seconds.upperBound * 1_000_000_000), offset: offset * 1_000_000_000)
    }

    // MARK: Rooms

    /// What a node hears of the beacon.
    private static func heard(node: String, _ level: Int, second: Int) -> String {
        #"{"tst":\#(start + second),"topic":"espresense/devices/iBeacon:11112222-3333-4444-5555-666677778888-1-7/\#(node)","payload":{"mac":"a4cf12d03f31","id":"iBeacon:11112222-3333-4444-5555-666677778888-1-7","rssi@1m":-59,"rssi":\#(level),"distance":3.09,"var":0.41,"int":1480}}"#
    }

    /// The name of the room of a receiver, by its card, which nodes do not have, and by the configuration; and the name that a person writes.
    private static let forms: [(card: String?, configured: String?, written: String)] = [
        ("Office Room", nil, "office room"), ("office_room", nil, "Office Room"), (nil, nil, "Office Room"),
        ("Attic", "Office Room", "OFFICE-ROOM"), (nil, "Office", "office"),
    ]

    @Test(arguments: forms)
    func `A room is one for all, in each form of its name, and where the configuration names it`(
        card: String?, configured: String?, written: String
    ) throws {
        var settings = SiteSettings()
        let receiver = card == nil ? "office_room" : "o"
        settings.gateways[receiver] = configured.flatMap { RoomName($0) }
        var lines = [Self.head[0], Self.head[2]]
        if let card { lines.append(Self.line("gateway/o", #"{"v":1,"room":"\#(card)"}"#, second: 0)) }
        for second in 1...600 {
            let levels = second <= 300 ? (-55, -80) : (-80, -55)
            lines.append(
                card == nil
                    ? Self.heard(node: receiver, levels.0, second: second)
                    : Self.heard(receiver, levels.0, second: second))
            lines.append(Self.heard("h", levels.1, second: second))
        }
        let truth = try RoomTruth("\(Self.start),keys,\(written)\n\(Self.start + 300),keys,hall")
        let comparison = try Self.played(lines, settings)
        #expect(comparison.gatewayCount == 2)
        let tag = try #require(comparison.results(truth: truth).first)
        for line in tag.lines { #expect(line.truth?.right ?? 0 > 0.85, "\(line.name)") }
    }

    @Test(arguments: [true, false])
    func `What nodes publish under another id of a beacon is heard by all rules, once it is known which beacon it is`(
        isKnown: Bool
    ) throws {
        func message(_ topic: String, _ payload: String, second: Int) -> String {
            #"{"tst":\#(Self.start + second),"topic":"espresense/\#(topic)","payload":\#(payload)}"#
        }
        var lines = [Self.head[0]]
        if isKnown {
            let beacon = "iBeacon:11112222-3333-4444-5555-666677778888-1-7"
            lines.append(message("settings/\(beacon)/config", #"{"id":"keys:jane","name":"Keys"}"#, second: 0))
        }
        for second in 1...300 {
            for (node, level) in [("kitchen", -55), ("hall", -80)] {
                let payload = #"{"mac":"a4cf12d03f31","id":"keys:jane","rssi@1m":-59,"rssi":\#(level),"distance":3.09}"#
                lines.append(message("devices/keys:jane/\(node)", payload, second: second))
            }
        }
        let comparison = try Self.played(lines)
        #expect(comparison.gatewayCount == (isKnown ? 2 : 0))
        let tag = comparison.results(truth: try RoomTruth("\(Self.start),keys,Kitchen")).first
        #expect(tag?.readings == (isKnown ? 600 : nil))
        // Our rule needs to know the nodes first.
        for line in tag?.lines ?? [] { #expect(line.truth?.right ?? 0 > 0.85, "\(line.name)") }
    }

    // MARK: Clocks

    @Test(.timeLimit(.minutes(1)))
    func `A clock that was set by years is a pause, and takes no time of the comparison`() throws {
        func lines(_ from: Int, _ levels: (Int, Int)) -> [String] {
            (1...300).flatMap { second in
                [
                    Self.heard("k", levels.0, second: from + second), Self.heard("h", levels.1, second: from + second),
                ]
            }
        }
        // A machine without a clock begins at 1970.
        let late = (Self.head + lines(0, (-55, -80))).map { $0.replacing(#""tst":179529"#, with: #""tst":"#) }
        let truth = try RoomTruth("\(Self.start),keys,Hall")
        let comparison = try Self.played(late + lines(1000, (-80, -55)))
        #expect(comparison.seconds == 300 + 299)
        let tag = try #require(comparison.results(truth: truth).first)
        // Ours takes its time where a tag returns after a day.
        for line in tag.lines { #expect(line.truth?.right ?? 0 > 0.8, "\(line.name)") }
    }

    @Test func `An older recording may come after a newer one, and each has its own truth`() throws {
        func recording(_ from: Int, _ levels: (Int, Int)) -> [String] {
            Self.head.map { $0.replacing("\(Self.start)", with: "\(Self.start + from)") }
                + (1...300).flatMap { second in
                    [
                        Self.heard("k", levels.0, second: from + second),
                        Self.heard("h", levels.1, second: from + second),
                    ]
                }
        }
        var comparison = RoomComparison(SiteSettings())
        for lines in [recording(3600, (-55, -80)), recording(0, (-80, -55))] {
            comparison.beginRecording()
            for line in lines { try comparison.play(line: Array(line.utf8)) }
        }
        let truth = try RoomTruth("\(Self.start),keys,Hall\n\(Self.start + 3600),keys,Kitchen")
        let tag = try #require(comparison.results(truth: truth).first)
        for line in tag.lines {
            #expect(line.truth?.right ?? 0 > 0.9 && line.truth?.entries == 0, "\(line.name)")
        }
    }

    // MARK: Fixed addresses

    private static let bike = "533B9EE0-DC87-5E74-A527-5E88F94E944D"

    /// The UUID of the tag; whether the configuration says its address, and whether a gateway has it among its phones; the time that Bermuda
    /// takes, which is that of the fourth computation, and whether the address is assumed.
    @Test(arguments: [
        (bike, false, false, 3.1...4.3, true), (bike, true, false, 3.1...4.3, false),
        (bike, false, true, 1.0...2.2, false),
        ("11112222-3333-4444-5555-666677778888", false, false, 1.0...2.2, false),
    ])
    func `Bermuda computes what is followed by a fixed address once in each cycle, and a beacon or a phone twice`(
        uuid: String, isConfigured: Bool, isPhone: Bool, delay: ClosedRange<Double>, isAssumed: Bool
    ) throws {
        var settings = SiteSettings()
        if isConfigured {
            let description = try RegionDescription(parsing: "Keys:mac:C0:FF:EE:00:00:01")
            let region = Region(rid: "keys", description: description, timestamp: 1).keepingIdentity()
            settings.tags = [.set(region, isRIDDerived: false)]
        }
        let list = #"{"v":1,"version":1,"by":"a","tags":[],"patterns":[{"uuid":"\#(uuid)","id":"keys","name":"Keys"}]}"#
        let phones = isPhone ? #","phones":["\#(uuid)"]"# : ""
        var lines = [
            Self.line("tags", list, second: 0), Self.head[1],
            Self.line("gateway/h", #"{"v":1,"room":"Hall"\#(phones)}"#, second: 0),
        ]
        for second in 1...60 {
            lines.append(Self.heard("k", -60, second: second))
            if second > 30 { lines.append(Self.heard("h", -57, second: second)) }
        }
        lines = lines.map { $0.replacing(Self.beacon, with: "\(uuid):0:0") }
        let truth = try RoomTruth("\(Self.start),keys,Kitchen\n\(Self.start + 31),keys,Hall")
        let tag = try #require(try Self.played(lines, settings).results(truth: truth).first)
        let found = tag.lines.first { $0.name == "Bermuda" }?.truth?.delay ?? -1
        #expect(delay.contains(found), "\(found)")
        #expect(tag.isAddressAssumed == isAssumed)
    }
}
