import Glibc
import Synchronization

/// mosquitto_sub beside the test: an independent witness of what arrives.
package final class Subscriber: Sendable {
    private let process: ChildProcess
    private let directory: TemporaryDirectory
    private let descriptor: Int32
    private let heard = Mutex(Heard())

    /// What was read of the witness's output. It is asked for again and again, and only what is new is read.
    private struct Heard {
        var lines: [Line] = []
        /// A line that is not whole yet.
        var rest: [UInt8] = []
    }

    /// A message as the witness saw it.
    package struct Line: Hashable, Sendable {
        package var topic: String
        package var qos: Int
        package var retained: Bool
        /// Hexadecimal, so that any byte is seen.
        package var payload: String

        package init(topic: String, qos: Int, retained: Bool, payload: String) {
            self.topic = topic
            self.qos = qos
            self.retained = retained
            self.payload = payload
        }

        package var text: String {
            let digits = payload.utf8.map { UInt8(truncatingIfNeeded: Character(UnicodeScalar($0)).hexDigitValue ?? 0) }
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// It listens when this returns.
    package init(to broker: MosquittoBroker, topic: String = "#", options: [String] = []) throws {
        directory = try TemporaryDirectory()
        let name = "witness-\(UInt32.random(in: 0...UInt32.max))"
        process = try ChildProcess(
            "mosquitto_sub",
            [
                "-h", "127.0.0.1", "-p", String(broker.port), "-t", topic, "-q", "2", "-i", name,
                "-F", "%q %r %x %t",
            ] + options,
            output: directory.file("lines"))
        // Under qemu's user emulation, posix_spawn returns before the child has made the file.
        descriptor = open(directory.file("lines"), O_CREAT | O_RDONLY | O_CLOEXEC, 0o600)
        guard eventually({ broker.log.contains("Sending SUBACK to \(name)") }) else {
            let text = String(decoding: (try? directory.read("lines")) ?? [], as: UTF8.self)
            throw SupportError("mosquitto_sub does not get through: \(text)")
        }
    }

    deinit { close(descriptor) }

    package var lines: [Line] {
        heard.withLock { heard in
            heard.rest += readToEnd(descriptor)
            if let end = heard.rest.lastIndex(of: UInt8(ascii: "\n")) {
                heard.lines += heard.rest[..<end].split(separator: UInt8(ascii: "\n")).compactMap(Self.line)
                heard.rest.removeSubrange(...end)
            }
            return heard.lines
        }
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> Line? {
        let words = String(decoding: bytes, as: UTF8.self)
            .split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, let qos = Int(words[0]) else { return nil }
        return Line(topic: String(words[3]), qos: qos, retained: words[1] == "1", payload: String(words[2]))
    }
}
