import Base
import Configuration
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
        let (settings, open) = try settings(arguments.value("config"))
        var replay = RoomReplay(settings, open: open)
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
    ///
    /// - Returns: And how messages of a site with a key are decrypted.
    static func settings(_ path: String?) throws -> (SiteSettings, RoomReplay.Opening) {
        guard let path else { return (SiteSettings(), opening(SiteSeal(key: nil))) }
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
        return (rooms, opening(SiteSeal(configuration.rooms)))
    }

    private static func opening(_ seal: SiteSeal) -> RoomReplay.Opening {
        { topic, payload throws(FeedError) in
            guard let topic = RoomTopic(topic) else { return payload }
            return try mapError({
                FeedError($0 == .noKey ? "it is encrypted; name the site's key with --config" : "\($0)")
            }) { () throws(SealError) in
                try seal.opened(payload, of: topic)
            }
        }
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
