import Configuration
import JSON
import Shell
import System
import TestSupport
import Testing

@testable import Tools

/// The access list that `acl` prints.
@Suite struct AccessListTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func list(
        _ members: String, service: String = "gateway", gateways: String? = nil
    ) throws -> AccessList {
        try directory.write("{\(members)}", to: "config.json")
        let settings = try Settings(readingFrom: directory.file("config.json"), stateDirectory: directory.file("state"))
        return try AccessListCommand.list(settings, service: service, gateways: gateways)
    }

    private func refusal(_ members: String, service: String = "gateway", gateways: String? = nil) throws -> Failure {
        try #require(throws: Failure.self) { _ = try list(members, service: service, gateways: gateways) }
    }

    /// The lines without comments.
    private func lines(_ list: AccessList) -> [Substring] {
        list.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    @Test func `A gateway has its own topics, and nothing of Home Assistant or of a site that it does not use`() throws
    {
        let list = try list("username: \"kitchen\", deviceId: \"kitchen\", rooms: null")
        #expect(
            lines(list) == [
                "user kitchen", "topic readwrite owntracks/kitchen/kitchen/#", "topic write ibeacon-gateway/kitchen/#",
            ])
    }

    @Test func `Without commands a gateway reads nothing`() throws {
        let list = try list(
            "username: \"kitchen\", deviceId: \"kitchen\", cmd: false, homeAssistant: {discovery: true}")
        #expect(lines(list).contains("topic write owntracks/kitchen/kitchen/#"))
        #expect(lines(list).contains("topic write ibeacon-gateway/kitchen/#"))
    }

    @Test func `A gateway of a site writes its own levels there, and reads those of the site`() throws {
        let list = try list(
            "username: \"pi\", deviceId: \"kitchen\", rooms: {site: \"home\", encryptionKey: \"secret\"}")
        #expect(
            lines(list).suffix(7) == [
                "topic read ibeacon-rooms/home/tags", "topic write ibeacon-rooms/home/heard/kitchen",
                "topic write ibeacon-rooms/home/gateway/kitchen", "topic read ibeacon-rooms/home/nearby",
                "topic write ibeacon-rooms/home/nearby/kitchen", "topic read ibeacon-rooms/home/phones/+",
                "topic write ibeacon-rooms/home/phones/kitchen",
            ])
    }

    @Test func `Each right has its purpose above it, once for neighbours`() throws {
        let text = try list("username: \"kitchen\", homeAssistant: {discovery: true, prefix: \"ha\"}").text
        #expect(
            text.contains(
                "# Home Assistant says here that it starts\ntopic read ha/status\ntopic read homeassistant/status"))
    }

    @Test func `Without a login the lines are those of clients without one`() throws {
        let text = try list("deviceId: \"kitchen\"").text
        #expect(text.hasPrefix("# clients without a login"))
        #expect(!text.contains("user \n"))
    }

    @Test func `The rooms service has the rights to its site and to the topics of the tags`() throws {
        let list = try list(
            "username: \"jane\", rooms: {site: \"home\", publishAsEspresense: true}", service: "rooms")
        #expect(lines(list).first == "user jane")
        for line in [
            "topic readwrite ibeacon-rooms/home/#", "topic read ibeacon-gateway/+/availability",
            "topic write owntracks/jane/#", "topic write espresense/devices/+/+",
        ] {
            #expect(lines(list).contains(Substring(line)), "\(line)")
        }
    }

    @Test func `What all gateways of a fleet do below their own names are patterns, and all else belongs to each user`()
        throws
    {
        let list = try list(
            "rooms: {site: \"home\"}, homeAssistant: {discovery: true}", gateways: "kitchen, hall")
        let lines = lines(list)
        let users = try #require(lines.firstIndex(of: "user kitchen"))
        #expect(
            lines[..<users] == [
                "pattern readwrite owntracks/%u/%u/#", "pattern readwrite ibeacon-gateway/%u/#",
                "pattern write ibeacon-rooms/home/heard/%u", "pattern write ibeacon-rooms/home/gateway/%u",
                "pattern write ibeacon-rooms/home/nearby/%u",
            ])
        #expect(lines.filter { $0 == "topic read ibeacon-rooms/home/tags" }.count == 2)
        #expect(lines.contains("topic readwrite homeassistant/+/ibeacon-gateway-hall/+/config"))
        #expect(!lines[users...].contains { $0.hasPrefix("pattern") })
    }

    @Test(
        "A name that is not a level of its own topics makes no pattern",
        arguments: ["Küche,hall", "home,hall", "tags,hall"])
    func spelled(gateways: String) throws {
        let list = try list("rooms: {site: \"home\"}", gateways: gateways)
        // No right of the site by a user's name: all users would have it.
        #expect(
            !lines(list).contains {
                $0.hasPrefix("pattern") && !$0.hasPrefix("pattern write ibeacon-rooms/home/")
                    && $0.contains("ibeacon-rooms")
            })
        let json = try #require(list.json.array)
        for name in gateways.split(separator: ",") {
            let topics = json.filter { $0["user"]?.string == String(name) }.compactMap { $0["topic"]?.string }
            #expect(topics.contains("ibeacon-rooms/home/tags"))
        }
    }

    @Test func `A gateway alone gets no pattern, which would be valid for all users`() throws {
        #expect(try !list("rooms: {site: \"home\"}", gateways: "kitchen").text.contains("pattern"))
    }

    @Test(
        "What cannot have a list is refused",
        arguments: [
            ("mode: 3, url: \"https://example.org\"", "gateway", nil, ExitCode.configuration),
            ("port: 0", "gateway", nil, .configuration), ("rooms: null", "rooms", nil, .configuration),
            ("username: \"a\\nuser jane\"", "gateway", nil, .configuration), ("", "room", nil, .usage),
            ("rooms: {site: \"home\"}", "rooms", "hall", .usage), ("", "gateway", "hall,hall", .usage),
            ("", "gateway", "a/b", .usage), ("", "gateway", " , ", .usage), ("", "gateway", "", .usage),
            ("", "gateway", "a+", .usage),
        ] as [(String, String, String?, ExitCode)])
    func refused(members: String, service: String, gateways: String?, code: ExitCode) throws {
        #expect(try refusal(members, service: service, gateways: gateways).code == code)
    }
}
