import Base
import Configuration
import Glibc
import JSON
import RoomMessages
import Rooms
import Shell
import SiteCore
import SiteProtocol
import System

/// `rooms replay`: plays recordings of the feed through the whole rooms service, in virtual time. It does not touch the
/// stored state.
enum RoomsReplayCommand {
    static func run(_ arguments: Arguments) throws -> ExitCode {
        let files = arguments.operands.dropFirst()
        guard !files.isEmpty else {
            throw Failure(.usage, "name the recording to play; see 'ibeacon-gateway rooms --help'")
        }
        let tail = try arguments.seconds("tail") ?? .seconds(1)
        let (settings, seal) = try settings(arguments.value("config"))
        var replay = RoomReplay(settings) { topic, payload throws(FeedError) in
            guard let topic = RoomTopic(topic) else { return payload }
            return try mapError({
                FeedError($0 == .noKey ? "it is encrypted; name the site's key with --config" : "\($0)")
            }) { () throws(SealError) in
                try seal.opened(payload, of: topic)
            }
        }
        var output: [UInt8] = []
        let log = { (text: String) in if !arguments.has("quiet") { Terminal.printError(text) } }
        let emit = { (published: RoomReplay.Published) in
            output += line(published)
            if output.count > 32768 {
                Terminal.print(jsonLines: output)
                output.removeAll(keepingCapacity: true)
            }
        }
        let found = { (finding: RoomEngine.Finding) in log(finding.text) }
        var told = 0
        for path in files {
            replay.beginRecording(emit, found)
            var lines = try LineReader(path: path, longest: RecordedMessage.longestLine)
            var number = 0
            while let line = try lines.next() {
                number += 1
                guard line.contains(where: { $0 > 0x20 }) else { continue }
                do throws(FeedError) {
                    try replay.play(line: line, emit, found)
                } catch {
                    told += 1
                    if told <= 20 { log("\(path):\(number): \(error)") }
                }
            }
        }
        replay.run(for: tail, emit, found)
        Terminal.print(jsonLines: output)
        let counters = replay.site.engine.counters
        log(
            """
            \(replay.lines) lines, \(replay.problems) not taken; \(counters.readings) readings of tags and others \
            (\(counters.foreign) of others, \(counters.late) messages late, \(counters.repeated) repeated), \
            \(counters.decisions) decisions, \(replay.messages) messages
            """)
        guard replay.lines > replay.problems || replay.lines == 0 else {
            throw Failure(.badData, "no line of the recording is a message as mosquitto_sub -F '%j' prints it")
        }
        return .ok
    }

    /// Reads the members of a configuration file that concern the rooms service. The others are ignored.
    private static func settings(_ path: String?) throws -> (SiteSettings, SiteSeal) {
        guard let path else { return (SiteSettings(), SiteSeal(key: nil)) }
        let bytes = try FileAccess.read(path)
        let json = try mapError({ Failure(.configuration, "\(path): \($0)") }) { () throws(JSONError) in
            try JSONValue(parsing: bytes, dialect: .json5)
        }
        let used: Set = ["rooms", "lat", "lon", "acc", "majorMinorBase"]
        let configuration = try mapError({ Failure(.configuration, "\(path) cannot be used:\n\($0)") }) {
            () throws(ConfigurationError) in
            try Configuration(
                json.object.map { .object($0.filter { used.contains($0.key) }) } ?? json, hostName: Settings.hostName,
                files: SecretFile.files(beside: path))
        }
        var rooms = SiteSettings(configuration)
        // Without a site, the recording decides.
        if json["rooms"]?["site"] == nil { rooms.site = nil }
        return (rooms, SiteSeal(configuration.rooms))
    }

    /// `{"topic":"…","time":1763766263.612022,"qos":1,"retain":false,"payload":{…}}`
    private static func line(_ published: RoomReplay.Published) -> [UInt8] {
        let microseconds = published.epochNanoseconds / 1000
        let fraction = String(microseconds % 1_000_000)
        let time =
            "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - fraction.utf8.count) + fraction
        let message = published.message
        var line = Array("{\"topic\":".utf8)
        line += JSONValue.string(message.topic).bytes
        line += Array(
            ",\"time\":\(time),\"qos\":\(message.qos.rawValue),\"retain\":\(message.isRetained),\"payload\":".utf8)
        line += message.payload
        line += Array("}\n".utf8)
        return line
    }
}

/// Reads the lines of a file; `-` is standard input.
private struct LineReader: ~Copyable {
    private let path: String
    private let longest: Int
    private let descriptor: CInt
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    init(path: String, longest: Int) throws(Failure) {
        self.path = path
        self.longest = longest
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(errno == EACCES ? .noPermission : .noInput, "cannot read \(path): \(FileAccess.lastError)")
        }
    }

    deinit { if path != "-", descriptor >= 0 { close(descriptor) } }

    /// The next line without its end; nil at the end of the file.
    mutating func next() throws(Failure) -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return buffer[start..<end]
            }
            searched = buffer.count
            if isAtEnd {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return buffer[start...]
            }
            guard buffer.count - start <= longest else {
                throw Failure(.badData, "\(path): a line has more than \(longest >> 20) MiB; that is not a recording")
            }
            if start > 0 {
                buffer.removeFirst(start)
                searched -= start
                start = 0
            }
            try fill()
        }
    }

    private mutating func fill() throws(Failure) {
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Failure(.inputOutput, "cannot read \(path): \(FileAccess.lastError)")
            }
            if count == 0 { isAtEnd = true } else { buffer += chunk[..<count] }
            return
        }
    }
}
