import Glibc
import JSON
import OwnTracks
import TestSupport

/// The program itself, as this build made it, with a configuration and a state of its own.
final class GatewayProcess {
    static let fixtures: String = {
        // Tests/IntegrationTests/GatewayProcess.swift
        let parts = #filePath.split(separator: "/").dropLast(2)
        return "/" + parts.joined(separator: "/") + "/Fixtures"
    }()

    /// Another build of the program, to be measured; nil: the one beside the test runner.
    static let measured = getenv("IBEACON_GATEWAY_PROGRAM").map { String(cString: $0) }

    static var program: String {
        get throws {
            if let measured { return measured }
            return "\(try directoryOfTests)/ibeacon-gateway"
        }
    }

    /// Where the test runner is.
    static var directoryOfTests: String {
        get throws {
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/exe", &buffer, buffer.count)
            guard count > 0 else { throw SupportError("/proc/self/exe cannot be read") }
            let runner = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
            let path = runner.split(separator: "/").dropLast().joined(separator: "/")
            return "/\(path)"
        }
    }

    let directory: TemporaryDirectory
    private(set) var process: ChildProcess?

    /// `deviceId`
    let device: String

    /// - Parameters:
    ///   - members: of the configuration, JSON5 without the outer braces.
    ///   - device: `deviceId`.
    ///   - http: `http`
    init(
        _ members: String, port: UInt16, device: String = "hall", http: String = "null",
        in directory: TemporaryDirectory? = nil
    ) throws {
        self.device = device
        self.directory = try directory ?? TemporaryDirectory()
        try configure(members, port: port, http: http)
    }

    func configure(_ members: String, port: UInt16, host: String = "127.0.0.1", http: String = "null") throws {
        try directory.write(
            """
            {_type: "configuration", host: "\(host)", port: \(port), username: "jane", deviceId: "\(device)", tid: "jh",
             http: \(http), \(members)}
            """, to: "config.json")
    }

    var arguments: [String] { ["--config", directory.file("config.json"), "--state-dir", directory.file("state")] }

    /// - Parameter environment: Additions, `NAME=value`.
    func start(environment: [String] = []) throws {
        process = try ChildProcess(
            try Self.program, arguments + ["--verbose", "run"], output: directory.file("log"), environment: environment)
    }

    /// SIGTERM, and its exit status.
    func stop() -> Int32 {
        process?.send(SIGTERM)
        return process?.wait() ?? -1
    }

    /// Its exit status, when it ends by itself; nil if it does not.
    func ends(within limit: Duration = .patience) -> Int32? {
        guard let process, eventually(within: limit, { !process.isRunning }) else { return nil }
        return process.wait()
    }

    func kill() {
        process?.send(SIGKILL)
        process?.wait()
    }

    /// Memory that it occupies, in KiB; 0 if it does not run.
    var residentKiB: Int { memory("VmRSS") }

    /// The most memory that it ever occupied, in KiB; 0 if it does not run.
    var peakKiB: Int { memory("VmHWM") }

    private func memory(_ name: String) -> Int {
        guard let process, let status = try? run("cat", ["/proc/\(process.pid)/status"]) else { return 0 }
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Ends it with SIGTERM.
    ///
    /// - Returns: As `longestTurn`.
    func stopAndReadLongestTurn() throws -> Int {
        guard stop() == 0 else { throw SupportError("the gateway does not end well: \(log)") }
        return try longestTurn()
    }

    /// Milliseconds that one turn of its loop took at most, as its log says at the end.
    func longestTurn() throws -> Int {
        let parts = log.split(separator: "longest turn of the loop: ")
        guard parts.count == 2, let turn = Int(parts[1].prefix(while: \.isNumber)) else {
            throw SupportError("the log does not say how long the longest turn was: \(log)")
        }
        return turn
    }

    /// Open descriptors.
    var descriptorCount: Int {
        guard let process, let names = try? run("ls", ["/proc/\(process.pid)/fd"]) else { return 0 }
        return names.split(separator: "\n").count
    }

    /// Processor time of all its threads so far; zero if it does not run.
    var processorTime: Duration {
        guard let process,
            let text = try? run("sh", ["-c", "cat /proc/\(process.pid)/task/*/schedstat"])
        else { return .zero }
        let nanoseconds = text.split(separator: "\n").compactMap {
            $0.split(separator: " ").first.flatMap { Int64($0) }
        }
        return .nanoseconds(nanoseconds.reduce(0, +))
    }

    var log: String { String(decoding: (try? directory.read("log")) ?? [], as: UTF8.self) }

    func says(_ text: String, within limit: Duration = .patience) -> Bool {
        eventually(within: limit) { log.contains(text) }
    }

    /// What another command of the program prints, which may fail.
    func say(_ words: String...) throws -> String {
        let name = "said-\(UInt32.random(in: 0...UInt32.max))"
        try ChildProcess(try Self.program, arguments + words, output: directory.file(name)).wait()
        return String(decoding: try directory.read(name), as: UTF8.self)
    }

    /// Whether it asked the broker for the commands on its `/cmd`: what is sent there before is lost. The log says
    /// `connected to` sooner.
    func hearsCommands(of broker: MosquittoBroker) -> Bool {
        eventually { broker.log.contains("owntracks/jane/\(device)/cmd (QoS") }
    }

    /// What another command of the program prints, when it contains these words; if it never does, what it printed last.
    ///
    /// The state on the disk and the status page follow the log.
    func asked(_ words: String..., until parts: String...) throws -> String {
        try eventual({ try run(try Self.program, arguments + words) }) { said in parts.allSatisfy(said.contains) }
    }

    /// The transitions in its history: `enter` and `leave` of each region, by its name, in order.
    func history() throws -> [String: [String]] {
        var events: [String: [String]] = [:]
        for line in try ask("history", "--json").split(separator: "\n") {
            let json = try JSONValue(parsing: Array(line.utf8))
            events[json["desc"]?.string ?? "?", default: []].append(json["event"]?.string ?? "?")
        }
        return events
    }

    /// Whether the machine let the service wait for so long that it says so. Such a time does not count as silence, so
    /// that visits with a short time between them may be told as one.
    var hadToWait: Bool { log.contains("no receiver listened for") }

    /// The exit code of a command of the program, and what it prints into a file of the directory.
    static func answer(
        _ words: [String], in directory: TemporaryDirectory
    ) throws -> (code: Int32, said: String) {
        let name = "said-\(UInt32.random(in: 0...UInt32.max))"
        let code = try ChildProcess(try program, words, output: directory.file(name)).wait()
        return (code, String(decoding: try directory.read(name), as: UTF8.self))
    }

    /// What another command of the program prints.
    func ask(_ words: String...) throws -> String {
        try run(try Self.program, arguments + words)
    }
}

extension Subscriber {
    /// `topic payload`, the payload as text with every time replaced by T.
    var timeless: [String] {
        lines.map { "\($0.topic) \(withoutTimes($0.text))" }
    }
}

/// `"tst":123` and `"since":123` without their numbers: what differs between two runs.
func withoutTimes(_ text: String) -> String {
    var result = text
    for member in ["\"tst\":", "\"since\":", "\"created_at\":"] {
        let parts = result.split(separator: member, omittingEmptySubsequences: false)
        result = parts.dropFirst().reduce(String(parts.first ?? "")) { $0 + member + "T" + $1.drop(while: \.isNumber) }
    }
    return result
}
