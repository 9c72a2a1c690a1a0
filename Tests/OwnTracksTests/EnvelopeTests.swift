import Base
import JSON
import Regions
import TestSupport
import Testing

@testable import OwnTracks

/// What people have their waypoints in.
@Suite struct EnvelopeTests {
    private static let keys =
        #"{"_type":"waypoint","tst":1,"rid":"k","desc":"Keys:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7"}"#
    private static let bag =
        #"{"_type":"waypoint","tst":2,"rid":"b","desc":"Bag:CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:8"}"#
    private static let list = #"{"_type":"waypoints","waypoints":[\#(keys),\#(bag)]}"#
    private static let command = #"{"_type":"cmd","action":"setWaypoints","waypoints":\#(list)}"#
    /// `base64 -w0` of `[{"_type":"waypoint","tst":1,"rid":"k","desc":"Keys"}]`.
    private static let encoded = "W3siX3R5cGUiOiJ3YXlwb2ludCIsInRzdCI6MSwicmlkIjoiayIsImRlc2MiOiJLZXlzIn1d"

    private static func names(_ text: String) throws -> [String] {
        let reading = try WaypointsReading(WaypointsEnvelope.list(in: Array(text.utf8)))
        #expect(reading.problems.isEmpty, "\(reading.problems)")
        return RegionSet.reading(reading).regions.map(\.displayName)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let names: [String]
        init(_ why: String, _ text: String, _ names: [String]) {
            (testDescription, self.text, self.names) = (why, text, names)
        }
    }

    static let rows: [Row] = [
        Row("a file of an app", list, ["Keys", "Bag"]),
        Row("a bare array, with comments", "[/* mine */ \(keys),]", ["Keys"]),
        Row("one waypoint", keys, ["Keys"]),
        Row("a command", command, ["Keys", "Bag"]),
        Row(
            "a command of an earlier app", #"{"_type":"cmd","action":"setWaypoints","payload":\#(list)}"#,
            ["Keys", "Bag"]),
        Row(
            "a command with settings",
            #"{"_type":"cmd","action":"setConfiguration","configuration":{"_type":"configuration","waypoints":[\#(bag)]}}"#,
            ["Bag"]),
        Row("a configuration", #"{"_type":"configuration","tid":"KI","waypoints":[\#(keys)]}"#, ["Keys"]),
        Row("a dump", #"{"_type":"dump","configuration":{"_type":"configuration","waypoints":[\#(keys)]}}"#, ["Keys"]),
        Row("lines", "\(keys)\r\n\n\(bag)\n", ["Keys", "Bag"]),
        Row("lines of lists", "\(list)\n[\(keys)]\n", ["Keys", "Bag"]),
        Row(
            "what mosquitto_sub -v prints",
            "owntracks/jane/phone/waypoint \(keys)\nowntracks/jane/phone/waypoints \(list)\n", ["Keys", "Bag"]),
        Row("one such line", "owntracks/jane/phone/waypoint \(keys)", ["Keys"]),
        Row(
            "lines of the Recorder's store, with a location among them",
            "2026-11-28T10:00:00Z\t*                 \t{\"_type\":\"location\",\"lat\":1,\"lon\":2}\n"
                + "2026-11-28T10:00:01Z\twaypoint          \t\(keys)\n", ["Keys"]),
        Row(
            "a time before the topic", "2026-11-28T10:00:01+0100 owntracks/jane/phone/waypoint \(bag)\n", ["Bag"]),
        Row(
            "what mosquitto_sub -F %J prints",
            #"{"tst":"2026-11-28T10:00:01Z","topic":"owntracks/a/b/waypoints","qos":1,"retain":0,"payload":\#(list)}"#,
            ["Keys", "Bag"]),
        Row(
            "a message of Node-RED, whose payload is text",
            #"[{"topic":"owntracks/a/b/waypoint","payload":"{\"_type\":\"waypoint\",\"desc\":\"Den\"}","qos":0}]"#,
            ["Den"]),
        Row(
            "the answer of a server", #"[{"_type":"location"},{"_type":"cmd","action":"reportLocation"},\#(command)]"#,
            ["Keys", "Bag"]),
        Row("base64", encoded + "\n", ["Keys"]),
        Row("base64 on lines", encoded.prefix(40) + "\n" + encoded.dropFirst(40), ["Keys"]),
        Row("a link with a file", "owntracks:///config?inline=\(encoded)", ["Keys"]),
        Row("a link with escapes", "owntracks:///config?inline=\(encoded.dropLast())%64\n", ["Keys"]),
        Row(
            "a link to a beacon",
            "owntracks:///beacon?rid=ac3def&name=My%20Beacon&uuid=CA271EAE-5FA8-4E80-8F08-2A302A95A959&major=2&minor=1",
            ["My Beacon"]),
        Row(
            "links on lines",
            "owntracks:///beacon?name=A&uuid=\(sampleUUID)&minor=1\nowntracks:///beacon?name=A&uuid=\(sampleUUID)&minor=2",
            ["A", "A"]),
    ]

    @Test(arguments: rows) func `Waypoints are found in whatever holds them`(row: Row) throws {
        #expect(try Self.names(row.text) == row.names)
    }

    @Test func `The numbers of a link are decimal, and its beacon has the same rid at each import`() throws {
        let text = "owntracks:///beacon?name=A&uuid=\(sampleUUID)&major=0012&minor=100"
        let readings = try (0..<2).map { _ in try WaypointsReading(WaypointsEnvelope.list(in: Array(text.utf8))) }
        #expect(readings[0].changes == readings[1].changes)
        #expect(
            RegionSet.reading(readings[0]).regions.first?.description.pattern?.description == "\(sampleUUID):12:100")
    }

    @Test(arguments: [
        ("", "it is not JSON: the text is empty"), ("Keys:CA27", "it is not JSON: line 1, column 1: a word"),
        (#"{"_type":"waypoint",\u{201c}desc\u{201d}:"x"}"#, "write the quote"),
        (#"{"_type":"cmd","action":"dump"}"#, "it is the command 'dump', which has no waypoints"),
        (
            #"{"_type":"configuration","tid":"x"}"#,
            "a configuration without waypoints; 'ibeacon-gateway --config FILE config check'"
        ),
        (#"{"_type":"encrypted","data":"x"}"#, "it is encrypted"),
        (
            "Keys:\(sampleUUID):1:7\nBag:\(sampleUUID):1:8",
            "it is a description; 'ibeacon-gateway regions add' takes one"
        ),
        ("btsnoop\0\0\0\0\u{1}", "it is a capture of Bluetooth; 'ibeacon-gateway replay FILE'"),
        ("owntracks:///settings?x=1", "'settings' is no link for waypoints"),
        ("owntracks:///config?url=https://x", "the link names another place"),
        ("owntracks:///config?inline=!!!", "is not JSON in base64"),
        ("owntracks:///beacon?name=A", "no name or no uuid"),
        (#"{"_type":"location"}"# + "\n" + #"{"_type":"encrypted"}"#, "line 1: _type is 'location'"),
        (#"[{"_type":"encrypted"}]"#, "element 0: it is encrypted"),
        ("\u{feff}", "the text is empty"),
    ])
    func `What has no waypoints is named, with the command that takes it`(text: String, words: String) {
        let text = text.replacing(#"\u{201c}"#, with: "\u{201c}").replacing(#"\u{201d}"#, with: "\u{201d}")
        let error = #expect(throws: WaypointsError.self) { try WaypointsEnvelope.list(in: Array(text.utf8)) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test func `A compressed file is named`() {
        let error = #expect(throws: WaypointsError.self) { try WaypointsEnvelope.list(in: [0x1f, 0x8b, 8, 0]) }
        #expect(error?.description == "it is compressed (gzip); unpack it first: zcat FILE > NEW-FILE")
    }

    @Test(arguments: [
        (#"{"_type":"waypoints","waypoints":[]}"#, #"write {"_type":"cmd","action":"setWaypoints","waypoints":"#),
        (keys, #""action":"setWaypoints""#), ("[\(keys)]", #""action":"setWaypoints""#),
        (#"{"_type":"configuration"}"#, #"write {"_type":"cmd","action":"setConfiguration","configuration":"#),
        (
            #"{"action":"dump"}"#,
            #"an object whose _type is missing is not a command; write {"_type":"cmd","action":"dump"}"#
        ),
        ("dump", #"a word is not a command; write {"_type":"cmd","action":"dump"}"#),
        ("\"status\"\n", #""action":"status"}"#),
        ("reboot", "not JSON"),
        (#"{"_type":"encrypted","data":"x"}"#, "it is encrypted, and this tracker has no encryptionKey"),
        ("[]", "an array is not a command"), (#"{"_type":"location"}"#, "_type is 'location'"),
    ])
    func `A message that is no command yet is told how it becomes one`(text: String, words: String) {
        let error = #expect(throws: CommandError.self) { try Command(parsing: Array(text.utf8)) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test func `The argument of setWaypoints may be called payload`() throws {
        guard
            case .setWaypoints(let reading) = try Command(
                parsing: Array(#"{"_type":"cmd","action":"setWaypoints","payload":\#(Self.list)}"#.utf8))
        else {
            Issue.record("no setWaypoints")
            return
        }
        #expect(reading.changes.count == 2)
    }

    @Test(
        arguments: [
            ("", nil), ("TQ==", "M"), ("TQ", "M"), ("TWE=", "Ma"), ("TWFu", "Man"), ("T W\nF u", "Man"), ("TR==", nil),
            ("T", nil),
            ("TQ=", nil), ("TQ=A", nil), ("TWFu=", nil), ("T*==", nil), ("-_-_", "\u{fb}\u{ff}\u{bf}"),
        ] as [(String, String?)])
    func `Base64 is read in either alphabet, and nothing else is`(text: String, plain: String?) {
        let bytes = plain.map { $0.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
        #expect(Base64.bytes(text.utf8) == bytes)
    }

    @Test func `Any text is a list or an error`() {
        var random = SplitMix64(seed: 55)
        let parts =
            Self.rows.map(\.text) + [
                "owntracks:", "///", "config?", "inline=", "%", "%4", "&", "=", "\n", " ", "{", "[", "]", "\"", "W3",
            ]
        for _ in 0..<2_000 {
            var bytes = (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in
                Array((parts.randomElement(using: &random) ?? "").utf8)
            }
            if let index = bytes.indices.randomElement(using: &random) {
                bytes[index] = .random(in: .min ... .max, using: &random)
            }
            do throws(WaypointsError) {
                let list = try WaypointsEnvelope.list(in: bytes)
                _ = try? WaypointsReading(list)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }
}
