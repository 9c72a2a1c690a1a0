import Glibc
import JSON
import OwnTracks
import TestSupport

/// A consumer of transitions as consumers should be: it remembers what it has had, and takes no notice of what
/// comes again byte for byte.
final class TransitionLog {
    private let process: ChildProcess
    private let broker: MosquittoBroker
    private let name = "log-\(UInt32.random(in: 0...UInt32.max))"
    private let directory: TemporaryDirectory
    private let descriptor: CInt
    private var rest: [UInt8] = []
    private var seen: Set<String> = []
    /// How often something came again.
    private(set) var repeats = 0
    /// `enter` and `leave` of each region, by its name, in the order of their arrival.
    private(set) var events: [String: [String]] = [:]
    /// Times of each region, by its name.
    private(set) var times: [String: [Int64]] = [:]
    /// What is no transition.
    private(set) var strange: [String] = []

    /// It listens when this returns.
    ///
    /// - Parameters:
    ///   - port: Another listener of the broker.
    ///   - options: Of mosquitto_sub.
    init(
        _ broker: MosquittoBroker, port: UInt16? = nil, topic: String = "owntracks/+/+/event", options: [String] = []
    ) throws {
        self.broker = broker
        directory = try TemporaryDirectory()
        // A session that the broker keeps, so that nothing is missed while the broker is away.
        process = try ChildProcess(
            "mosquitto_sub",
            [
                "-h", "127.0.0.1", "-p", String(port ?? broker.port), "-t", topic, "-q", "1", "-i", name, "-c", "-F",
                "%p",
            ] + options,
            output: directory.file("lines"))
        // Under qemu's user emulation, posix_spawn returns before the child has made the file.
        descriptor = open(directory.file("lines"), O_CREAT | O_RDONLY | O_CLOEXEC, 0o600)
        guard eventually(within: .seconds(60), { subscriptions > 0 }) else {
            throw SupportError("mosquitto_sub does not get through")
        }
    }

    deinit { close(descriptor) }

    /// How often it has subscribed. It does so anew when a broker has forgotten it.
    var subscriptions: Int { broker.log.split(separator: "\n").count { $0.contains("Sending SUBACK to \(name)") } }

    var count: Int { events.values.reduce(0) { $0 + $1.count } }

    /// Reads what has come since the last time.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            rest += buffer[..<count]
        }
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return }
        for line in rest[..<end].split(separator: UInt8(ascii: "\n")) { take(String(decoding: line, as: UTF8.self)) }
        rest.removeSubrange(...end)
    }

    private func take(_ line: String) {
        guard seen.insert(line).inserted else {
            repeats += 1
            return
        }
        guard let json = try? JSONValue(parsing: Array(line.utf8)), let event = json["event"]?.string,
            let name = json["desc"]?.string, case .integer(let time)? = json["tst"]
        else { return strange.append(line) }
        events[name, default: []].append(event)
        times[name, default: []].append(time)
    }
}
