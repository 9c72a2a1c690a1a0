import Glibc
import JSON
import TestSupport

/// A running gateway, its broker, and a subscriber that records all messages of the broker but commands.
final class GatewayFixture {
    static let uuid = "CA271EAE-5FA8-4E80-8F08-2A302A95A959"
    /// Nothing is heard.
    static let quiet = "scanner: {capture: \"\(GatewayProcess.fixtures)/captures/no-reports.btsnoop\"}, leaveAfter: 30"
    /// The beacon 1:7 is there from the first second on, for minutes.
    static let stay = "scanner: {capture: \"\(GatewayProcess.fixtures)/stay-and-walk.btsnoop\"}, leaveAfter: 600"
    /// The beacon 1:7 comes after a second and goes again.
    static let demo = "scanner: {capture: \"\(GatewayProcess.fixtures)/demo.btsnoop\", speed: 4}, leaveAfter: 3"

    let broker: MosquittoBroker
    let witness: Subscriber
    let gateway: GatewayProcess
    private var marks = 0

    init(
        _ members: String = GatewayFixture.quiet, device: String = "hall", broker: MosquittoBroker? = nil,
        starts: Bool = true
    ) throws {
        let broker = try broker ?? MosquittoBroker()
        self.broker = broker
        // Under emulation, mosquitto_sub takes minutes to print a command of 8 MiB, and prints no answer meanwhile.
        witness = try Subscriber(to: broker, options: ["-T", "owntracks/+/+/cmd"])
        gateway = try GatewayProcess(members, port: broker.port, device: device)
        if starts { try start() }
    }

    deinit {
        gateway.kill()
        broker.stop()
    }

    var base: String { "owntracks/jane/\(gateway.device)" }

    /// Returns when it hears commands.
    func start() throws {
        let before = subscriptions
        try gateway.start()
        guard eventually({ subscriptions > before }) else {
            throw SupportError("the gateway does not subscribe: \(gateway.log)")
        }
    }

    /// How often the broker was asked for the gateway's commands.
    var subscriptions: Int { broker.log.split(separator: "\n").count { $0.contains("\(base)/cmd (QoS") } }

    /// As a power cut would.
    func killAndStart() throws {
        gateway.kill()
        try start()
    }

    /// Sends a message; returns when the broker has it.
    func send(_ payload: String, to topic: String? = nil, retained: Bool = false) throws {
        let file = try gateway.directory.write(payload, to: "message")
        try run(
            "mosquitto_pub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.port)", "-t", topic ?? "\(base)/cmd", "-q", "1", "-f", file,
            ] + (retained ? ["-r"] : []))
    }

    /// Sends a command without arguments.
    func command(_ action: String) throws {
        try send(#"{"_type":"cmd","action":"\#(action)"}"#)
    }

    /// `setWaypoints` with these elements.
    func setWaypoints(_ elements: [String], retained: Bool = false) throws {
        let list = #"{"_type":"waypoints","waypoints":[\#(elements.joined(separator: ","))]}"#
        try send(#"{"_type":"cmd","action":"setWaypoints","waypoints":\#(list)}"#, retained: retained)
    }

    /// One element: a beacon region.
    static func waypoint(_ rid: String, _ name: String, suffix: String = ":1:7", more: String = "") -> String {
        #"{"_type":"waypoint","tst":1600000000,"rid":"\#(rid)","desc":"\#(name):\#(uuid)\#(suffix)"\#(more)}"#
    }

    /// One element that deletes.
    static func gone(_ rid: String) -> String {
        #"{"_type":"waypoint","tst":1600000000,"rid":"\#(rid)","desc":"x","lat":100,"lon":500}"#
    }

    /// What was published on a topic under the base so far; "" is the base itself.
    func published(_ suffix: String = "") -> [String] { published(on: suffix.isEmpty ? base : "\(base)/\(suffix)") }

    func published(on topic: String) -> [String] { witness.lines.filter { $0.topic == topic }.map(\.text) }

    /// Does something, and waits for one message more on a topic under the base.
    func answer(on suffix: String, to action: () throws -> Void) throws -> JSONValue {
        let before = published(suffix).count
        try action()
        guard eventually({ published(suffix).count > before }) else {
            throw SupportError("nothing more on \(base)/\(suffix): \(gateway.log)")
        }
        return try JSONValue(parsing: published(suffix)[before])
    }

    /// The regions as the gateway tells them: `rid=name` of each.
    func regions() throws -> [String] {
        try GatewayFixture.names(answer(on: "waypoints") { try command("waypoints") })
    }

    /// The same of a gateway that was killed: an answer from before may come once more, so a mark that no
    /// earlier answer has is set first, and left out of the result.
    func regionsAfterKill() throws -> [String] {
        marks += 1
        let mark = "mark=mark\(marks)"
        try setWaypoints([GatewayFixture.waypoint("mark", "mark\(marks)", suffix: ":9")])
        try command("waypoints")
        var found: [String] = []
        let isTold = eventually {
            found = published("waypoints").last.flatMap { try? JSONValue(parsing: $0) }.map(GatewayFixture.names) ?? []
            return found.contains(mark)
        }
        guard isTold else { throw SupportError("no answer to waypoints: \(gateway.log)") }
        return found.filter { $0 != mark }
    }

    static func names(_ waypoints: JSONValue) -> [String] {
        (waypoints["waypoints"]?.array ?? []).map { element in
            let name = element["desc"]?.string?.split(separator: ":").first ?? "?"
            return "\(element["rid"]?.string ?? "?")=\(name)"
        }
    }

    /// A counter of the answer to `status`.
    func counter(_ name: String) throws -> Int64? {
        let status = try answer(on: "status") { try command("status") }
        return status["gateway"]?["counters"]?[name]?.asInteger
    }
}
