import Glibc
import Synchronization

/// A throwaway mosquitto on a free port of the loopback interface. What it remembers, it remembers on disk,
/// so that a restart is one that a broker survives.
package final class MosquittoBroker: Sendable {
    package let port: UInt16
    package let directory: TemporaryDirectory
    private let process: Mutex<ChildProcess>

    /// - Parameter settings: further lines of mosquitto.conf. Without any, everybody may do everything.
    package init(
        _ settings: [String] = ["allow_anonymous true"], in directory: TemporaryDirectory? = nil
    ) throws {
        let directory = try directory ?? TemporaryDirectory()
        self.directory = directory
        for _ in 0..<5 {
            let port = try LoopbackPort.free()
            try Self.configure(settings, port: port, in: directory)
            let process = try Self.launch(in: directory)
            if Self.isUp(process, starts: 1, in: directory) {
                self.port = port
                self.process = Mutex(process)
                return
            }
        }
        let log = String(decoding: (try? directory.read("broker.log")) ?? [], as: UTF8.self)
        throw SupportError("mosquitto does not start: \(log)")
    }

    private static func configure(_ settings: [String], port: UInt16, in directory: TemporaryDirectory) throws {
        // `user root`: as root it would become another user, who may not write here. For others it is nothing.
        // `max_queued_messages`: a witness on a busy machine falls behind by more than the usual 1,000, and the broker
        // would drop what is beyond. Not 0, without a bound: with it mosquitto 2.0.11 hangs up on a client whose
        // message it has to refuse.
        let lines = [
            "user root", "max_queued_messages 1000000", "persistence true", "persistence_location \(directory.path)/",
            "log_type all",
            "listener \(port) 127.0.0.1",
        ]
        try directory.write((lines + settings).joined(separator: "\n") + "\n", to: "broker.conf")
    }

    private static func launch(in directory: TemporaryDirectory) throws -> ChildProcess {
        try ChildProcess("mosquitto", ["-c", directory.file("broker.conf")], output: directory.file("broker.log"))
    }

    /// The broker's log says that it listens and has read its certificates. An answer on the port would prove less: the
    /// port may belong to another program that was quicker.
    private static func isUp(_ process: ChildProcess, starts: Int, in directory: TemporaryDirectory) -> Bool {
        eventually { Self.starts(in: directory) >= starts || !process.isRunning }
            && process.isRunning
    }

    private static func starts(in directory: TemporaryDirectory) -> Int {
        let log = String(decoding: (try? directory.read("broker.log")) ?? [], as: UTF8.self)
        return log.split(separator: "\n").count { $0.contains("mosquitto version") && $0.hasSuffix("running") }
    }

    package var log: String { String(decoding: (try? directory.read("broker.log")) ?? [], as: UTF8.self) }

    /// Ends it with SIGTERM (it saves what it knows) or, `abruptly`, with SIGKILL (it forgets).
    package func stop(abruptly: Bool = false) {
        process.withLock {
            $0.send(abruptly ? SIGKILL : SIGTERM)
            // It may be frozen, and would not hear the first.
            $0.send(SIGCONT)
            $0.wait()
        }
    }

    /// - Parameter settings: in place of those that it had.
    package func restart(_ settings: [String]? = nil) throws {
        stop()
        if let settings { try Self.configure(settings, port: port, in: directory) }
        let starts = Self.starts(in: directory) + 1
        let new = try Self.launch(in: directory)
        process.withLock { $0 = new }
        guard Self.isUp(new, starts: starts, in: directory) else {
            throw SupportError("mosquitto does not start again: \(log)")
        }
    }

    /// It stands still: connections stay, nothing is answered.
    package func freeze() { process.withLock { $0.send(SIGSTOP) } }
    package func thaw() { process.withLock { $0.send(SIGCONT) } }

    /// Makes the broker read its configuration and password file again, and waits for it. The new settings apply to
    /// later connections.
    package func reload() {
        let before = reloads
        process.withLock { $0.send(SIGHUP) }
        _ = eventually { reloads > before }
    }

    private var reloads: Int { log.split(separator: "\n").count { $0.hasSuffix("Reloading config.") } }
}
