import Glibc
import TestSupport

@testable import Messaging

/// The rooms service in its own process.
final class RoomsProcess {
    let directory: TemporaryDirectory
    private var process: ChildProcess?
    private var said = 0

    /// - Parameters:
    ///   - tags: Region descriptions.
    ///   - page: The port of its page; nil: it has none.
    ///   - rooms: Members of `rooms`, each with a comma before it.
    ///   - more: Members of the configuration, each with a comma before it.
    init(
        port: UInt16, instance: String, tags: [String] = ["Jane:\(BeaconScript.uuid):1:7"], page: UInt16? = nil,
        rooms: String = "", _ more: String = ""
    ) throws {
        directory = try TemporaryDirectory()
        let tags = tags.map { "\"\($0)\"" }.joined(separator: ", ")
        let http = page.map { "{listen: \"127.0.0.1:\($0)\"}" } ?? "null"
        try directory.write(
            """
            {_type: "configuration", host: "127.0.0.1", port: \(port), username: "jane",
             rooms: {site: "home", instance: "\(instance)", http: \(http), tags: [\(tags)]\(rooms)}\(more)}
            """, to: "config.json")
    }

    func start() throws {
        process = try ChildProcess(
            try GatewayProcess.program,
            [
                "--config", directory.file("config.json"), "--state-dir", directory.file("state"), "--verbose",
                "rooms",
                "run",
            ], output: directory.file("log"))
    }

    var log: String { String(decoding: (try? directory.read("log")) ?? [], as: UTF8.self) }

    func says(_ words: String, within limit: Duration = .seconds(90)) -> Bool {
        eventually(within: limit) { self.log.contains(words) }
    }

    /// Whether the log has these words so often. A service that is started again goes on with the same log.
    func says(_ words: String, times: Int) -> Bool {
        eventually { self.log.split(separator: words, omittingEmptySubsequences: false).count > times }
    }

    /// Processor time of all its threads so far; zero if it does not run.
    var processorTime: Duration {
        guard let process,
            let text = try? TestSupport.run("sh", ["-c", "cat /proc/\(process.pid)/task/*/schedstat"])
        else { return .zero }
        return .nanoseconds(
            text.split(separator: "\n").reduce(0) { $0 + ($1.split(separator: " ").first.flatMap { Int64($0) } ?? 0) })
    }

    /// What a command of the program prints with this service's configuration and state.
    func ask(_ words: String...) throws -> String {
        try TestSupport.run(
            try GatewayProcess.program,
            ["--config", directory.file("config.json"), "--state-dir", directory.file("state")] + words)
    }

    /// The same for a command that may fail.
    func say(_ words: String...) throws -> String {
        // What a command prints is put behind what is in the file.
        let name = "said-\(said)"
        said += 1
        let output = directory.file(name)
        let process = try ChildProcess(
            try GatewayProcess.program,
            ["--config", directory.file("config.json"), "--state-dir", directory.file("state")] + words, output: output)
        process.wait()
        return String(decoding: try directory.read(name), as: UTF8.self)
    }

    /// Has it read the configuration again.
    func reload() { process?.send(SIGHUP) }

    func kill() {
        process?.send(SIGKILL)
        process?.wait()
    }

    func stop() -> Int32 {
        process?.send(SIGTERM)
        return process?.wait() ?? -1
    }
}

/// What the gateways of a house publish below `ibeacon-rooms/home`. They share one connection, so that all arrives in the order
/// in which it was published, however busy the machine is.
final class SitePublisher {
    private let client: BrokerClient
    private let start = ContinuousClock.now
    private var count: Int64 = 0

    init(port: UInt16) throws {
        client = try BrokerClient(
            BrokerSettings(
                hosts: ["127.0.0.1"], port: port, clientID: "house-\(UInt32.random(in: 0...UInt32.max))"))
        try client.connection.start()
        guard client.connects() else { throw SupportError("no connection to the broker: \(client.failures)") }
    }

    deinit { _ = client.connection.stop(within: .seconds(5)) }

    /// Milliseconds that have passed. A gateway's clock runs with time: if it did not, its readings would be taken for late ones.
    var now: Int { Int(start.duration(to: .now) / .milliseconds(1)) }

    /// Publishes a message, and returns when the broker has it.
    func publish(_ topic: String, _ payload: String, retained: Bool = false) throws {
        count += 1
        let number = count
        client.publish(number, to: "ibeacon-rooms/home/\(topic)", Array(payload.utf8), retain: retained)
        guard client.sees({ $0 == .acknowledged(MessageToken(rawValue: number)) }) else {
            throw SupportError("the broker refuses a message: \(client.failures)")
        }
    }
}

/// The retained card of the rooms service `a`, which changes twice a second as if the service were active.
final class MovingCard {
    private let process: ChildProcess
    private let directory: TemporaryDirectory

    /// - Parameter card: With `COUNTER` in the place of the number.
    init(port: UInt16, _ card: String) throws {
        directory = try TemporaryDirectory()
        let file = try directory.write(card, to: "card")
        process = try ChildProcess(
            "sh",
            [
                "-c",
                "n=0; while n=$((n + 1)) && sed \"s/COUNTER/$n/\" '\(file)' | mosquitto_pub -h 127.0.0.1 -p \(port) -r "
                    + "-t ibeacon-rooms/home/service/a -s; do sleep 0.5; done",
            ], output: directory.file("said"))
    }

    func stop() {
        process.send(SIGKILL)
        process.wait()
    }
}

/// Three gateways, in the kitchen, the hall and the bath.
final class RoomsHouse {
    private let site: SitePublisher
    private var number = 0
    /// When the gateways published last, milliseconds.
    private var published: Int?
    /// What each gateway hears of the tag that is in the room of this number.
    private static let levels = [[-50, -75, -85], [-72, -52, -70], [-86, -74, -50]]

    init(port: UInt16) throws {
        site = try SitePublisher(port: port)
        for (gateway, room) in ["Kitchen", "Hall", "Bath"].enumerated() {
            try publish("gateway/g\(gateway)", #"{"v":1,"room":"\#(room)"}"#, retained: true)
        }
    }

    func publish(_ topic: String, _ payload: String, retained: Bool = false) throws {
        try site.publish(topic, payload, retained: retained)
    }

    /// The tag stays in a room until something holds.
    ///
    /// - Returns: Whether it did within three minutes.
    func stay(in room: Int, until isOver: () throws -> Bool) throws -> Bool {
        for _ in 0..<180 {
            if try isOver() { return true }
            try hear(in: room)
            if try eventually(within: .seconds(1), isOver) { return true }
        }
        return false
    }

    /// The tag stays in a room for so many seconds at least.
    func stay(in room: Int, seconds: Int) throws {
        for _ in 0..<seconds {
            try hear(in: room)
            usleep(1_000_000)
        }
    }

    /// Each gateway publishes what it has heard in the last second, or since it published last.
    private func hear(in room: Int) throws {
        let now = site.now
        let listening = now - (published ?? now - 1000)
        published = now
        number += 1
        for gateway in 0..<3 {
            try publish(
                "heard/g\(gateway)",
                #"{"v":1,"boot":"b","seq":\#(number),"at":\#(100_000 + now),"listening":\#(listening),"reports":40,"#
                    + #""beacons":[{"id":"\#(BeaconScript.uuid):1:7","n":3,"rssi":\#(Self.levels[room][gateway]),"#
                    + #""power":-59,"age":100}]}"#)
        }
    }
}
