import Base
import Beacon
import Gateway
import Health
import HostSupport
import JSON
import Messaging
import Regions
import Status
import StatusPageSupport
import Testing

@testable import Configuration
@testable import Tools

/// What `status` and `doctor` print.
@Suite struct StatusTextTests {
    @Test func `Each cell of a region stands below its title, and what is not known is empty`() {
        let status: JSONValue = [
            "trackers": [
                [
                    "tid": "K1",
                    "regions": [
                        [
                            "name": "Kitchen", "inside": true, "sinceAgo": 61, "rssi": -60, "distance": .null,
                            "heardAgo": 2, "battery": ["percent": 9, "low": true],
                        ]
                    ],
                ]
            ]
        ]
        let table = """
            WHO      STATE               BEACON  RSSI     DISTANCE  HEARD      LEAVES IN  BATTERY
            Kitchen  here for 1 min 1 s          -60 dBm            2.0 s ago             9 % low
            """
        #expect(StatusText(StatusSnapshot(reading: status)).text.contains(table))
    }

    @Test(
        arguments: [
            ("Home", "Anna's keys", "Anna's keys"), ("Kitchen", "Anna's keys", "Anna's keys (Kitchen)"),
            ("Keys", "Keys", "Keys"), ("Keys", nil, "Keys"),
        ] as [(String, String?, String)])
    func `What comes and goes is called by the tracker's name, or the region's`(
        region: String, tracker: String?, name: String
    ) {
        #expect(PersonalName.of(region: region, tracker: tracker) == name)
    }

    @Test func `Since when is a time of day, with the date of another day`() {
        let noon: Int64 = 1_800_014_400
        #expect(TimeText.short(noon, at: noon + 3600, in: .utc) == "12:00 UTC")
        #expect(TimeText.short(noon - 86_400, at: noon, in: .utc) == "2027-01-14 12:00 UTC")
        #expect(TimeText.full(noon, in: .utc) == "2027-01-15 12:00:00")
    }

    @Test func `Times are local on a terminal alone, and not with --utc`() {
        var arguments = Arguments()
        #expect(TimeText.Zone(arguments, isTerminal: true) == .local)
        #expect(TimeText.Zone(arguments, isTerminal: false) == .utc)
        arguments.add("utc", "")
        #expect(TimeText.Zone(arguments, isTerminal: true) == .utc)
    }

    @Test func `Each line of a finding is a line, and no character stands for the break`() {
        let lines = DoctorFinding(.configuration, "f cannot be used:\n  a: wrong\n  b: wrong", remedy: "mend it").lines
        #expect(lines.count == 4 && lines[1].hasSuffix("    a: wrong") && lines[3].hasSuffix("-> mend it"), "\(lines)")
        #expect(!lines.joined().unicodeScalars.contains("\u{FFFD}"))
    }

    @Test func `History says who came and left, and shows keys and topics as details`() {
        let beacon = BeaconID(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
        let entries = [
            ("owntracks/u/anna", "Home", true, beacon), ("owntracks/u/hall", "Keys", false, beacon),
            // Circles: the tracker itself is there.
            ("owntracks/u/hall", "Home", true, nil), ("owntracks/u/anna", "Office", false, nil),
            // A tag, in the history of a rooms service.
            ("ibeacon-rooms/home/tag/bike", "Shed", true, nil),
        ].map {
            PastTransition(
                tracker: $0.0, rid: "r1", name: $0.1, event: $0.2 ? .enter : .leave, beacon: $0.3,
                timestamp: 1_800_014_400, stamp: .exact, happened: .zero)
        }
        let names: [String: String?] = ["owntracks/u/anna": "Anna's keys", "owntracks/u/hall": nil]
        let plain = """
            TIME (UTC)           WHAT
            2027-01-15 12:00:00  Anna's keys came
            2027-01-15 12:00:00  Keys left
            2027-01-15 12:00:00  hall came to Home
            2027-01-15 12:00:00  Anna's keys left Office
            2027-01-15 12:00:00  bike came to Shed
            """
        #expect(HistoryText(names: names, zone: .utc, hasDetails: false).table(entries) == plain)
        let detailed = HistoryText(names: names, zone: .utc, hasDetails: true).table(entries)
        #expect(detailed.contains("r1") && detailed.contains("owntracks/u/anna") && detailed.contains("TOPIC"))
    }

    @Test func `What is shown is what the service knows, whoever reads it`() throws {
        var snapshot = FakeHome(host: PollLoop()).statusSnapshot()
        // Its beacons are heard a second ahead of the clock.
        snapshot.now = snapshot.now.advanced(by: .seconds(2))
        let read = StatusSnapshot(reading: try JSONValue(parsing: snapshot.json.bytes))
        let unread: Set = ["counters", "localTime", "malformed", "overflow", "transitions"]
        let members = try #require(snapshot.json.object)
        for (member, value) in members where !unread.contains(member) {
            #expect(read.json[member] == value, "\(member)")
        }
        #expect(read.counters.sightings == snapshot.counters.sightings)
        let text = StatusText(read).text
        for tracker in snapshot.trackers { for region in tracker.regions { #expect(text.contains(region.name)) } }
    }

    /// Each number and text of an answer in turn, replaced by a value that no service writes.
    private static func damaged(_ value: JSONValue, by strange: JSONValue) -> [JSONValue] {
        switch value {
        case .object(let members):
            members.flatMap { name, member in
                damaged(member, by: strange).map { value in
                    .object(members.merging([name: value]) { $1 })
                }
            }
        case .array(let elements):
            elements.prefix(2).indices.flatMap { index in
                damaged(elements[index], by: strange).map { value in
                    var changed = elements
                    changed[index] = value
                    return .array(changed)
                }
            }
        default: [strange]
        }
    }

    @Test(
        arguments: [
            .number(1e300), .number(-1e300), .integer(.max), .integer(.min), .number(0.5), .null, "text", [], [:], true,
            "1e300",
        ] as [JSONValue])
    func `Whatever stands in place of a value, a text is made of the answer`(strange: JSONValue) throws {
        let home = FakeHome(host: PollLoop())
        let answers = Self.damaged(home.statusSnapshot().json, by: strange)
        #expect(answers.count > 100)
        for answer in answers {
            let snapshot = StatusSnapshot(reading: answer)
            #expect(StatusText(snapshot).text.hasPrefix("ibeacon-gateway "))
            var measurement = ServiceMeasurement(at: .zero)
            measurement.add(snapshot, at: .zero)
            measurement.add(snapshot, at: MonotonicInstant(nanoseconds: 1))
            _ = (measurement.report.text, measurement.reportsPerSecond.map { Int64(saturating: $0) })
        }
        for region in ExplainedRegions.samples.flatMap({ Self.damaged($0, by: strange) }) {
            guard let read = ExplainedRegion(reading: region, at: .zero) else { continue }
            _ = ExplanationText.text(read, at: .zero)
        }
    }

    @Test func `A share beyond all shares is not shown, and the rest of the answer is`() {
        let status: JSONValue = [
            "scanner": ["name": "mgmt", "adapters": [["name": "hci0", "duty": .number(1e300), "lost": 3]]]
        ]
        let text = StatusText(StatusSnapshot(reading: status)).text
        #expect(text.contains("3 lost, 0 restarts, heard never"), "\(text)")
    }

    @Test func `An explanation is shown as the service gave it`() throws {
        let region = try #require(ExplainedRegions.samples.first)
        let read = try #require(ExplainedRegion(reading: region, at: .zero))
        #expect(read.json(at: .zero) == region)
        let table = """
            Keys (k), tracker K1: inside
            It is near.
            BEACON                                    NEAR  ADAPTER  LISTENS  SILENCE  INTERVAL  ARRIVES  LONGEST GAP  LEVEL    GIVEN UP AFTER  LEAVES IN
            CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7  yes   hci0     yes      0.4 s    0.5 s     93 %     1.2 s        -60 dBm  7 s             6.5 s
            """
        #expect(ExplanationText.text(read, at: .zero) == table)
    }

    @Test func `Why no adapter can be used is in the line of the radio`() {
        var status = StatusSnapshot(reading: ["scanner": ["name": "mgmt", "adapters": []]])
        #expect(StatusText(status).text.contains("no adapter is in use (mgmt)"))
        status.scanner.problem = .init(text: "there is none", remedy: "plug one in")
        #expect(StatusText(status).text.contains("there is none; plug one in (mgmt)"))
    }

    @Test func `The last refused commands are shown with topic and reason`() {
        let status: JSONValue = [
            "refusedCommands": [
                ["topic": "owntracks/jane/pi/cmd", "reason": "unknown action 'x'", "count": 3, "ago": 61]
            ]
        ]
        let table = """
            REFUSED        TIMES  TOPIC                  REASON
            1 min 1 s ago  3      owntracks/jane/pi/cmd  unknown action 'x'
            """
        #expect(StatusText(StatusSnapshot(reading: status)).text.contains(table))
    }

    @Test func `Over HTTP the words are those of a server`() {
        let status: JSONValue = [
            "brokers": [
                ["kind": "server", "name": "http://recorder", "state": "connected", "reason": "", "sinceAgo": 5]
            ],
            "queue": ["pending": 0, "sent": 1, "setAside": 2, "dropped": 0],
        ]
        let text = StatusText(StatusSnapshot(reading: status)).text
        #expect(text.contains("server  connected for 5.0 s") && text.contains("2 refused by the server"))
        #expect(!text.lowercased().contains("broker"))
    }

    @Test func `A refused login names the user and the client id that were tried`() {
        var broker = Broker(clientID: "janehall")
        let refused = BrokerFailure.notAccepted(code: 5)
        let anonymous = BrokerCheck.failure(refused, clientID: "janehall-doctor", broker)
        #expect(anonymous.text.hasSuffix("; tried without a login, client id 'janehall-doctor'"))
        broker.username = "jane"
        let named = BrokerCheck.failure(refused, clientID: "janehall-doctor", broker)
        #expect(named.text.hasSuffix("; tried as 'jane', client id 'janehall-doctor'"))
        #expect(!BrokerCheck.failure(.silent, clientID: "janehall-doctor", broker).text.contains("client id"))
    }
}

private enum ExplainedRegions {
    static let samples: [JSONValue] = [
        [
            "tid": "K1", "rid": "k", "name": "Keys", "inside": true, "explanation": "It is near.",
            "beacons": [
                [
                    "beacon": "CA271EAE-5FA8-4E80-8F08-2A302A95A959:1:7", "near": true, "leavesIn": .number(6.5),
                    "together": ["silence": .number(0.4), "shareHeard": .number(0.75), "leaveTimeout": 7],
                    "receivers": [
                        [
                            "adapter": "hci0", "listening": true, "silence": .number(0.4), "interval": .number(0.5),
                            "rhythmKnown": true, "shareHeard": .number(0.93), "longestGap": .number(1.2),
                            "level": -60, "moving": false, "leaveTimeout": 7, "leaveRule": "rhythm",
                        ]
                    ],
                ]
            ], "regionCount": 1,
        ]
    ]
}
