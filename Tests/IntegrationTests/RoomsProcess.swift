import Glibc
import TestSupport

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

    func kill() {
        process?.send(SIGKILL)
        process?.wait()
    }

    func stop() -> Int32 {
        process?.send(SIGTERM)
        return process?.wait() ?? -1
    }
}

/// Three gateways, in the kitchen, the hall and the bath.
final class RoomsHouse {
    private let port: UInt16
    private var second = 100
    /// What each gateway hears of the tag that is in the room of this number.
    private static let levels = [[-50, -75, -85], [-72, -52, -70], [-86, -74, -50]]

    init(port: UInt16) throws {
        self.port = port
        for (gateway, room) in ["Kitchen", "Hall", "Bath"].enumerated() {
            try publish("gateway/g\(gateway)", #"{"v":1,"room":"\#(room)"}"#, "-r")
        }
    }

    func publish(_ topic: String, _ payload: String, _ options: String...) throws {
        try run(
            "mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(port)", "-t", "ibeacon-rooms/home/\(topic)", "-m", payload] + options)
    }

    /// The tag stays in a room until the service says so, or for so many seconds.
    func stay(in room: Int, seconds: Int, until isOver: () -> Bool = { false }) throws {
        for _ in 0..<seconds where !isOver() {
            for gateway in 0..<3 {
                try publish(
                    "heard/g\(gateway)",
                    #"{"v":1,"boot":"b","seq":\#(second),"at":\#(second * 1000),"listening":1000,"reports":40,"#
                        + #""beacons":[{"id":"\#(BeaconScript.uuid):1:7","n":3,"rssi":\#(Self.levels[room][gateway]),"#
                        + #""power":-59,"age":100}]}"#)
            }
            second += 1
            usleep(1_000_000)
        }
    }
}
