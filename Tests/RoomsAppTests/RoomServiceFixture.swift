import Base
import Configuration
import JSON
import Messaging
import Rooms
import Runtime
import ServiceSupport
import Shell
import SiteCore
import SiteProtocol
import TestSupport
import Testing

@testable import RoomsApp

/// The rooms service in virtual time: the real engine and the real store, doubles for the broker and the machine.
///
/// Three gateways stand in the kitchen, the hall and the bath. Jane's tag is in the configuration.
final class RoomServiceFixture: ServiceRig {
    static let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
    /// What each gateway receives of a tag, by the tag's room.
    private static let levels = [[-50, -75, -85], [-72, -52, -70], [-86, -74, -50]]
    static let rooms = ["Kitchen", "Hall", "Bath"]

    let host = ServiceHostDouble()
    let store: SteppedStore
    let broker = BrokerDouble()
    let status = StatusDouble()
    let service: RoomService
    var app: App<Site> { service.app }
    private let seal: SiteSeal
    private var second = 100
    /// What the tag says of its battery with each packet, per cent; nil: nothing.
    var battery: Int?

    /// - Parameters:
    ///   - directory: Where the configuration file and the state are.
    ///   - isRunning: Whether the state was read, and the gateways have said where they stand.
    ///   - key: The site's key, which service and gateways have.
    ///   - user: The `username`. The topics of the service and of the tags are made of it.
    ///   - site: The name of the site.
    ///   - clock: The wall clock at the start; nil: that of the double.
    ///   - returnsCards: Whether the broker returns the service's own card.
    ///   - rooms: Members of `rooms`, each with a comma before it.
    ///   - bounds: The largest numbers of gateways, rooms and tags.
    ///   - more: Members of the configuration, each with a comma before it.
    init(
        in directory: TemporaryDirectory, instance: String = "a", isRunning: Bool = true, key: String? = nil,
        user: String = "jane", site: String = "home", clock: WallClock? = nil, returnsCards: Bool = true,
        rooms: String = "",
        tags: String = #""Jane:\#(RoomServiceFixture.uuid):1:7""#, _ more: String = "",
        bounds: RoomEngine.Bounds = RoomEngine.Bounds(), log: Log = Log(threshold: .error)
    ) throws {
        store = SteppedStore(host: host)
        if let clock { host.wallClock = clock }
        seal = SiteSeal(key: key.map { Secret($0) })
        let members = key.map { ", encryptionKey: \"\($0)\"\(rooms)" } ?? rooms
        let path = try directory.write(
            """
            {_type: "configuration", username: "\(user)",
             rooms: {site: "\(site)", instance: "\(instance)", tags: [\(tags)]\(members)}\(more)}
            """, to: "config.json")
        service = try RoomService(
            settings: try Settings(readingFrom: path, stateDirectory: directory.path),
            links: AppLinks(store: store, broker: broker, status: status), host: host, log: log, bounds: bounds)
        if returnsCards { broker.returns = { $0.contains("/service/") } }
        try service.start()
        guard isRunning else { return }
        settle()
        // The broker returns the card after all that it retains.
        receive(sealed: "ibeacon-rooms/\(site)/service/\(instance)", #"{"v":1,"active":false,"counter":0}"#)
        for (gateway, room) in Self.rooms.enumerated() {
            receive(
                sealed: "ibeacon-rooms/\(site)/gateway/g\(gateway)", #"{"v":1,"room":"\#(room)"}"#, isRetained: true)
        }
    }

    /// A message of the broker arrives, and nothing else happens yet.
    func send(_ topic: String, _ payload: String, isRetained: Bool = false) {
        broker.send(
            .message(
                ReceivedMessage(topic: topic, payload: Array(payload.utf8), qos: .atLeastOnce, retained: isRetained)))
        service.app.handleBrokerEvents()
    }

    /// A message of the broker arrives, with everything that follows of it.
    func receive(_ topic: String, _ payload: String, isRetained: Bool = false) {
        send(topic, payload, isRetained: isRetained)
        settle()
    }

    /// The same for a message that is encrypted if the site has a key.
    func receive(sealed topic: String, _ payload: String, isRetained: Bool = false) {
        receive(
            topic, String(decoding: seal.sealed(Array(payload.utf8), for: topic), as: UTF8.self),
            isRetained: isRetained)
    }

    func recordUnrest() { Issue.record("the service does not come to rest") }

    /// The tag is in a room of this number, for so many seconds.
    func stay(in room: Int, seconds: Int) { hear(Self.levels[room], seconds: seconds) }

    /// All gateways hear the tag alike, for so many seconds.
    func stayBetweenRooms(seconds: Int) { hear(Self.rooms.map { _ in -70 }, seconds: seconds) }

    private func hear(_ levels: [Int], seconds: Int) {
        for _ in 0..<seconds {
            for (gateway, level) in levels.enumerated() {
                receive(
                    sealed: "ibeacon-rooms/home/heard/g\(gateway)",
                    #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":40,"#
                        + #""beacons":[{"id":"\#(Self.uuid):1:7","n":3,"rssi":\#(level),"#
                        + #""power":-59,"age":100\#(battery.map { #","battery":\#($0)"# } ?? "")}]}"#)
            }
            second += 1
            wait(.seconds(1))
        }
    }

    /// No message of a gateway arrives for so many seconds. Their clocks go on.
    func loseMessages(seconds: Int) {
        second += seconds
        wait(.seconds(seconds))
    }

    /// The gateways listen and hear no tag, for so many seconds.
    func hearNothing(seconds: Int) {
        for _ in 0..<seconds {
            for gateway in Self.rooms.indices {
                receive(
                    sealed: "ibeacon-rooms/home/heard/g\(gateway)",
                    #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":40,"beacons":[]}"#
                )
            }
            second += 1
            wait(.seconds(1))
        }
    }

    /// Payloads that reached the broker on a topic, decrypted.
    func opened(_ topic: String) throws -> [String] {
        let roomTopic = try #require(RoomTopic(topic))
        return try broker.messages.filter { $0.topic == topic }.map {
            String(decoding: try seal.opened($0.payload, of: roomTopic), as: UTF8.self)
        }
    }

    /// Payloads that reached the broker on a topic.
    func published(_ topic: String) -> [String] {
        broker.messages.filter { $0.topic == topic }.map { String(decoding: $0.payload, as: UTF8.self) }
    }

    /// The rooms of Jane's tag as they were published, `none` where it was in no room.
    var reportedRooms: [String] {
        published("ibeacon-rooms/home/tag/jane").map { text in
            (try? JSONValue(parsing: Array(text.utf8)))?["roomName"]?.string ?? "none"
        }
    }

    /// `setWaypoints` with one tag.
    static func command(adding name: String, minor: Int, rid: String? = nil) -> String {
        let member = rid.map { #""rid":"\#($0)","# } ?? ""
        return #"{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":["#
            + #"{"_type":"waypoint",\#(member)"desc":"\#(name):\#(uuid):1:\#(minor)","tst":1600000000}]}}"#
    }
}
