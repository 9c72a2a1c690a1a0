import Base
import Configuration
import Foundation
import JSON
import OwnTracks
import Regions
import RoomMessages
import SiteCore
import SiteProtocol
import Testing

/// Recordings of the feed.
@Suite struct RecordingTests {
    private static func line(_ topic: String, _ payload: String, second: Int, retain: Int = 0) -> String {
        let text = JSONValue.string(payload).text
        let time =
            "2026-11-21T23:\(second / 60 < 10 ? "0" : "")\(second / 60):\(second % 60 < 10 ? "0" : "")\(second % 60)"
        return #"{"tst":"\#(time).500000Z+0000","topic":"\#(topic)","qos":0,"retain":\#(retain),"payload":\#(text)}"#
    }

    private static func heard(_ gateway: String, _ level: Int, second: Int) -> String {
        line(
            "ibeacon-rooms/home/heard/\(gateway)",
            #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":4,"beacons":[{"id":"11112222-3333-4444-5555-666677778888:1:7","n":3,"rssi":\#(level),"max":-50,"power":-59,"age":12}]}"#,
            second: second)
    }

    private static let head = [
        line(
            "ibeacon-rooms/home/tags",
            #"{"v":1,"tags":[{"uuid":"11112222-3333-4444-5555-666677778888","major":1,"minor":7}]}"#, second: 0,
            retain: 1),
        line("ibeacon-rooms/home/gateway/k", #"{"v":1,"room":"Kitchen"}"#, second: 0, retain: 1),
        line("ibeacon-rooms/home/gateway/h", #"{"v":1,"room":"Hall"}"#, second: 0, retain: 1),
    ]

    private static func play(_ lines: [String], _ settings: SiteSettings = SiteSettings()) -> [Publication] {
        var replay = RoomReplay(settings)
        var messages: [Publication] = []
        for line in lines { _ = try? replay.play(line: Array(line.utf8), { messages.append($0.message) }, { _ in }) }
        replay.run(for: .seconds(2), { messages.append($0.message) }, { _ in })
        return messages
    }

    private static func walk() -> [String] {
        head + (1..<12).flatMap { [heard("k", -55, second: $0), heard("h", -75, second: $0)] }
            + (12..<24).flatMap { [heard("k", -78, second: $0), heard("h", -52, second: $0)] }
    }

    @Test func `A gap of years in a recording is passed over, and what follows has its own time`() {
        let late = Self.heard("k", -55, second: 30).replacingOccurrences(of: "2026-11-21", with: "2115-11-21")
        let without = Self.play(Self.walk())
        let with = Self.play(Self.walk() + [late])
        #expect(with.count < without.count + 5000)
        let times = with.filter { $0.topic.hasPrefix("ibeacon-rooms/home/tag/") }.compactMap {
            (try? JSONValue(parsing: $0.payload))?["since"]?.asInteger
        }
        #expect(times == times.sorted())
    }

    private static func text(_ message: Publication) -> String { String(decoding: message.payload, as: UTF8.self) }

    @Test func `Tags and rooms come from the retained messages of the recording`() {
        let names = Self.play(Self.walk()).filter { $0.topic.hasPrefix("ibeacon-rooms/home/tag/") }
            .compactMap { (try? JSONValue(parsing: $0.payload))?["roomName"]?.string }
        #expect(names == ["Kitchen", "Hall"])
    }

    @Test func `The messages of a decision come in their order: leave, enter, location, tag, old room, new room`() {
        var settings = SiteSettings()
        settings.position = Position(coordinates: Coordinates(latitude: 48.2, longitude: 16.4), accuracy: 10)
        let last = Self.play(Self.walk(), settings).suffix(6)
        let tag = "11112222-3333-4444-5555-666677778888-1-7"
        #expect(
            last.map(\.topic) == [
                "owntracks/rooms-home/\(tag)/event", "owntracks/rooms-home/\(tag)/event", "owntracks/rooms-home/\(tag)",
                "ibeacon-rooms/home/tag/\(tag)", "ibeacon-rooms/home/room/kitchen", "ibeacon-rooms/home/room/hall",
            ])
        let texts = last.map(Self.text)
        #expect(texts[0].contains(#""event":"leave""#) && texts[0].contains(#""desc":"Kitchen""#))
        #expect(texts[1].contains(#""event":"enter""#) && texts[1].contains(#""desc":"Hall""#))
        #expect(texts[2].contains(#""inregions":["Hall"]"#))
        #expect(last.map(\.isRetained) == [false, false, true, true, true, true])
    }

    @Test func `Without lat and lon, no location of a tag is published`() {
        let topics = Self.play(Self.walk()).map(\.topic).filter { $0.hasPrefix("owntracks/") }
        #expect(topics.count == 3 && topics.allSatisfy { $0.hasSuffix("/event") }, "\(topics)")
    }

    @Test func `Two runs give the same bytes`() {
        #expect(Self.play(Self.walk()) == Self.play(Self.walk()))
    }

    @Test func `Readings that were retained when they were received are old, and are not heard`() {
        let lines = Self.walk().map { $0.replacing(#""retain":0"#, with: #""retain":1"#) }
        #expect(Self.play(lines).isEmpty)
    }

    @Test func `A payload as an object is read as one that is text`() throws {
        let text = try RecordedMessage(
            line: #"{"tst":"2026-11-21T23:04:23.612022Z+0000","topic":"t","payload":"{\"v\":1}"}"#.utf8)
        let object = try RecordedMessage(
            line: #"{"tst":"2026-11-21T23:04:23.612022Z+0000","topic":"t","payload":{"v":1}}"#.utf8)
        #expect(text == object)
        #expect(text.epochNanoseconds == 1_795_302_263_612_022_000)
    }

    @Test(
        arguments: [
            ("2026-11-21T23:04:23.612022Z+0000", 1_795_302_263_612_022_000),
            ("2026-11-22T00:04:23.612022Z+0100", 1_795_302_263_612_022_000),
            ("2026-11-21T17:34:23.612022Z-0530", 1_795_302_263_612_022_000),
            ("1970-01-01T00:00:00Z", 0),
            ("2000-03-01T00:00:00.5Z+0000", 951_868_800_500_000_000),
        ] as [(String, Int64)])
    func `The Z of a time is literal, and the offset counts`(_ text: String, _ expected: Int64) throws {
        let message = try RecordedMessage(line: #"{"tst":"\#(text)","topic":"t"}"#.utf8)
        #expect(message.epochNanoseconds == expected)
    }

    @Test(arguments: [
        "", "{", "[]", #"{"topic":"t"}"#, #"{"tst":"2026-13-21T23:04:23Z","topic":"t"}"#,
        #"{"tst":"soon","topic":"t"}"#,
    ])
    func `What is no message says what is wrong with it`(_ line: String) {
        #expect(throws: FeedError.self) { try RecordedMessage(line: line.utf8) }
    }

    @Test func `Gateways, rooms and tags may come from the configuration, with the names of tags`() throws {
        let json = try JSONValue(
            parsing: """
                {rooms: {site: "home", tags: [{_type: "waypoint", desc: "Jane:11112222-3333-4444-5555-666677778888:1:7", \
                tst: 1}], gateways: {k: "Kitchen", h: "Hall"}}}
                """, dialect: .json5)
        let settings = SiteSettings(try Configuration(json, hostName: "pi"))
        let messages = Self.play(Array(Self.walk().dropFirst(3)), settings)
        #expect(messages.contains { $0.topic == "ibeacon-rooms/home/tag/jane" && Self.text($0).contains("Kitchen") })
    }
}
