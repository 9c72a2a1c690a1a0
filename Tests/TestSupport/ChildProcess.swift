import CSpawn
package import Glibc
import Synchronization

/// A program that runs beside the test. It is killed and reaped when this object is released.
package final class ChildProcess: Sendable {
    package let pid: pid_t
    /// Where its standard output goes.
    package let output: String
    /// nil: not reaped yet, so its number is still its own.
    private let status = Mutex<Int32?>(nil)

    /// - Parameters:
    ///   - program: a name sought on the PATH, or a path.
    ///   - output: a file for standard output and standard error.
    ///   - terminal: a pseudo-terminal that stands in for all three.
    ///   - additions: to its environment, `NAME=value`.
    package init(
        _ program: String, _ arguments: [String], output: String, terminal: String? = nil,
        environment additions: [String] = []
    ) throws {
        self.output = output
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let terminal {
            posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 1, output, O_CREAT | O_WRONLY | O_APPEND, 0o600)
        }
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Also sockets of tests that run beside this one: a descriptor that a child keeps open is never seen as closed.
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        // The test runner's threads block signals; the child must not inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // A test run under nohup ignores this signal.
        var reset = sigset_t()
        sigemptyset(&reset)
        sigaddset(&reset, SIGHUP)
        posix_spawnattr_setsigdefault(&attributes, &reset)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        defer { words.forEach { free($0) } }
        words.append(nil)
        // Error messages in English, whatever the machine speaks; and names that do not exist are known not to in a few
        // seconds, even where no name server answers.
        let usual = ["PATH=\(path)", "LC_ALL=C", "RES_OPTIONS=timeout:1 attempts:1"]
        var environment: [UnsafeMutablePointer<CChar>?] =
            (usual + sanitizerOptions + additions).map { strdup($0) } + [nil]
        defer { environment.forEach { free($0) } }
        var pid = pid_t()
        let result = posix_spawnp(&pid, program, &actions, &attributes, words, &environment)
        guard result == 0 else { throw SupportError("\(program) cannot be run: \(String(cString: strerror(result)))") }
        self.pid = pid
    }

    package func send(_ signal: Int32) {
        status.withLock { if $0 == nil { _ = kill(pid, signal) } }
    }

    /// Waits for its end.
    /// - Returns: its exit status, or the negative number of the signal that ended it.
    @discardableResult
    package func wait() -> Int32 {
        status.withLock { status in
            if let status { return status }
            var raw: Int32 = 0
            while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
            let ended = raw & 0x7f == 0 ? (raw >> 8) & 0xff : -(raw & 0x7f)
            status = ended
            return ended
        }
    }

    package var isRunning: Bool {
        status.withLock { status in
            // Its end is looked at and left to be reaped by `wait`.
            var ended = siginfo_t()
            return status == nil && waitid(P_PID, id_t(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0
                && ended.si_signo == 0
        }
    }

    deinit {
        send(SIGKILL)
        wait()
    }
}

/// A program that was built with a sanitizer is told what the test runner was told.
private let sanitizerOptions: [String] = ["TSAN_OPTIONS", "ASAN_OPTIONS"].compactMap { (name: String) in
    getenv(name).map { "\(name)=\(String(cString: $0))" }
}

/// Debian keeps mosquitto in /usr/sbin, which is not on everybody's PATH.
private let path = (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin") + ":/usr/sbin:/sbin"

/// Runs a program to its end.
/// - Returns: what it wrote.
@discardableResult
package func run(_ program: String, _ arguments: [String]) throws -> String {
    var name = Array("/tmp/ibeacon-gateway-run.XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw SupportError("mkstemp: \(String(cString: strerror(errno)))") }
    let file = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
        close(descriptor)
        unlink(file)
    }
    let status = try ChildProcess(program, arguments, output: file).wait()
    let text = String(decoding: readToEnd(descriptor), as: UTF8.self)
    guard status == 0 else { throw SupportError("\(program) \(arguments) ended with \(status): \(text)") }
    return text
}
