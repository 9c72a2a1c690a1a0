import Base
import Configuration
import JSON
import Regions
import ServiceDiscovery
import System
import TestSupport
import Testing

@testable import Tools

/// What setup makes of names, places, and of what it asks other programs.
@Suite struct SetupAnswersTests {
    @Test(
        arguments: [
            ("Anna's keys", "annas-keys", "AK"), ("Living room", "living-room", "LR"), ("Keys", "keys", "KE"),
            ("Größe 7", "größe-7", "G7"), ("!?", "tag", "TG"), ("犬", "犬", "TG"),
        ])
    func `A name gives a device and two characters for maps`(name: String, device: String, tid: String) {
        var taken: Set<String> = []
        let beacon = NamedBeacon(name: name, beacon: "", isPersons: true)
        #expect(beacon.deviceID(besides: &taken) == device && beacon.trackerID == tid)
        #expect(beacon.deviceID(besides: &taken) == "\(device)-2", "no two trackers have one device")
    }

    @Test func `A beacon of a person is a region of the home, and another one a region of its name`() {
        #expect(NamedBeacon(name: "Keys", beacon: "X:1:2", isPersons: true).description == "Home:X:1:2")
        #expect(NamedBeacon(name: "Keys", beacon: "X:1:2", isPersons: false).description == "Keys:X:1:2")
    }

    @Test(
        arguments: [
            ("48.858, 2.294", [48.858, 2.294]), ("-33 151.2", [-33, 151.2]), ("90, 180", [90, 180]), ("91, 0", nil),
            ("48.2,16.37", [48.2, 16.37]), ("48,2", nil), ("48,2 16,37", nil), ("48,2, 16,37", nil),
            ("0, 181", nil), ("1", nil), ("1, 2, 3", nil), ("here", nil), ("nan, 1", nil), ("inf 1", nil),
        ] as [(String, [Double]?)])
    func `A place is two numbers within the ranges of degrees`(text: String, place: [Double]?) {
        #expect(PlaceQuestion.coordinates(text).map { [$0.latitude, $0.longitude] } == place)
    }

    @Test func `A decimal comma is explained where a place is asked for`() {
        let advice = PlaceQuestion.advice(for: "48,2")
        #expect(advice.hasPrefix("'48,2' may be one number or two.") && advice.contains("such as 48.2, 16.37"))
        #expect(PlaceQuestion.advice(for: "here").hasPrefix("Write two numbers in degrees"))
    }

    @Test(
        arguments: [
            (["lat": "48.2", "lon": "-16.5"], [48.2, -16.5], nil), (["lat": "48.2"], nil, "given together"),
            (["lon": "16"], nil, "given together"),
            (
                ["lat": "48,2"], nil,
                "--lat '48,2' does not fit; write degrees from -90 to 90, with a point and no comma, such as 48.858"
            ),
            (["lon": "16,37"], nil, "--lon '16,37' does not fit; write degrees from -180 to 180, with a point"),
            (["lat": "48,2", "lon": "16"], nil, "--lat '48,2' does not fit"),
            (["lat": "480", "lon": "1"], nil, "--lat '480' does not fit; write degrees from -90 to 90, such as"),
            (["lat": "48", "lon": "181"], nil, "--lon '181' does not fit"),
            (["lat": "nan", "lon": "1"], nil, "--lat 'nan' does not fit"), (["lat": "", "lon": "1"], nil, "--lat ''"),
        ] as [([String: String], [Double]?, String?)])
    func `Each option for the place is one number, and is named if it is none`(
        options: [String: String], place: [Double]?, refusal: String?
    ) {
        var arguments = Arguments()
        for (option, value) in options { arguments.add(option, value) }
        let question = PlaceQuestion(arguments: arguments, dialogue: Dialogue(isInteractive: false))
        do throws(Failure) {
            let answer = try question.answer(known: nil)
            #expect(answer.map { [$0.latitude, $0.longitude] } == place && refusal == nil)
        } catch {
            #expect(error.message.contains(refusal ?? "no refusal") && error.code == .usage, "\(error.message)")
        }
    }

    @Test(
        arguments: [
            (nil, nil), ("auto", nil), ("mgmt", "mgmt"), ("bluez", "bluez"), ("x.btsnoop", ["capture": "/d/x.btsnoop"]),
            ("./walk", ["capture": "/d/./walk"]),
        ] as [(String?, JSONValue?)])
    func `A way to listen or the path of a recording is a scanner`(word: String?, member: JSONValue?) throws {
        let scanner = SetupScanner(word)
        try scanner.check()
        #expect(scanner.member { "/d/" + $0 } == member)
    }

    @Test func `A recording without an ending is taken where it exists`() throws {
        let directory = try TemporaryDirectory()
        try SetupScanner(try directory.write("", to: "walk")).check()
        let failure = #expect(throws: Failure.self) { try SetupScanner("walk-that-is-not-there").check() }
        #expect(failure?.code == .usage)
    }

    @Test(
        arguments: [
            (UnitQuestion.Answer.state("active"), true, "runs"), (.state("active"), false, "not yet"),
            (.state("activating"), true, "not yet"), (.state("failed"), true, "ended"),
            (.state("inactive"), false, "ended"), (.unknown("no bus"), true, "runs"),
            (.unknown("no bus"), false, "not yet"),
        ] as [(UnitQuestion.Answer, Bool, String)])
    func `A service runs if its manager says so and it answers`(state: UnitQuestion.Answer, answers: Bool, word: String)
    {
        let verdict = StartedService.verdict(state, answers: answers)
        let said =
            switch verdict {
            case .runs: "runs"
            case .notYet: "not yet"
            case .ended: "ended"
            }
        #expect(said == word)
    }

    @Test(
        arguments: [
            ("homeassistant/status", "online", false, true), ("homeassistant/status", "offline", true, false),
            ("homeassistant/light/a/config", "{}", true, true), ("homeassistant/light/a/config", "{}", false, false),
            ("homeassistant/light/a/config", "", true, false),
        ])
    func `The birth message or a retained description is a sign of Home Assistant`(
        topic: String, payload: String, isRetained: Bool, isSign: Bool
    ) {
        #expect(
            HomeAssistantQuestion.isSign(topic: topic, payload: Array(payload.utf8), isRetained: isRetained) == isSign)
    }

    @Test(
        arguments: [
            ("{}", false, "mosquitto_sub -h localhost -p 1883 -v -t 'a/#'"),
            ("{tls: true}", true, "mosquitto_sub -h localhost -p 8883 --capath /etc/ssl/certs -v -t 'a/#'"),
            (
                "{tls: true, caFile: '/etc/ca.pem'}", true,
                "sudo mosquitto_sub -h localhost -p 8883 --cafile /etc/ca.pem -v -t 'a/#'"
            ),
            (
                "{username: \"jane o'neil\"}", false,
                #"mosquitto_sub -h localhost -p 1883 -u 'jane o'\''neil' -v -t 'a/#'"#
            ),
            (
                "{username: 'u', passwordFile: '/etc/pass word'}", true,
                #"mosquitto_sub -h localhost -p 1883 -u u -P "$(sudo cat '/etc/pass word')" -v -t 'a/#'"#
            ),
        ])
    func `The line that shows the messages has login and authority, and no password`(
        members: String, needsRoot: Bool, line: String
    ) throws {
        let files = ConfigurationFiles { _ throws(ConfigurationFiles.Problem) in Secret("top secret") }
        let configuration = try Configuration(parsing: members.utf8, hostName: "pi", files: files)
        #expect(SubscribeLine(broker: configuration.broker, topic: "a/#", needsRoot: needsRoot).text == line)
    }
}
