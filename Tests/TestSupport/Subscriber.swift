/// mosquitto_sub beside the test: an independent witness of what arrives.
package final class Subscriber: Sendable {
    private let process: ChildProcess
    private let directory: TemporaryDirectory

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
            let digits = Array(payload.utf8)
            let bytes = stride(from: 0, to: digits.count, by: 2).map { index in
                UInt8(String(decoding: digits[index..<min(index + 2, digits.count)], as: UTF8.self), radix: 16) ?? 0
            }
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
        guard eventually(within: .seconds(60), { broker.log.contains("Sending SUBACK to \(name)") }) else {
            throw SupportError("mosquitto_sub does not get through: \(text)")
        }
    }

    private var text: String { String(decoding: (try? directory.read("lines")) ?? [], as: UTF8.self) }

    package var lines: [Line] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
            guard words.count == 4, let qos = Int(words[0]) else { return nil }
            return Line(topic: String(words[3]), qos: qos, retained: words[1] == "1", payload: String(words[2]))
        }
    }
}
