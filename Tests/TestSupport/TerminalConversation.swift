import Glibc
import Synchronization

/// A program that believes that it talks to a person at a terminal.
package final class TerminalConversation: Sendable {
    private let master: Int32
    private let process: ChildProcess
    private let heard = Mutex<[UInt8]>([])
    private let earlier = Mutex<[UInt8]>([])

    package init(_ program: String, _ arguments: [String]) throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        // What grantpt, unlockpt and ptsname do, which Swift's module of the C library leaves out (tty_ioctl(4)):
        // TIOCSPTLCK and TIOCGPTN.
        var locked: Int32 = 0
        var number: UInt32 = 0
        guard master >= 0, ioctl(master, 0x4004_5431, &locked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw SupportError("no pseudo-terminal: \(String(cString: strerror(errno)))")
        }
        process = try ChildProcess(program, arguments, output: "/dev/null", terminal: "/dev/pts/\(number)")
    }

    deinit { close(master) }

    /// Everything on the screen so far.
    package var screen: String {
        heard.withLock { heard in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(master, &buffer, buffer.count)
                guard count > 0 else { return String(decoding: heard, as: UTF8.self) }
                heard += buffer[..<count]
            }
        }
    }

    /// All that it ever showed.
    package var shown: String {
        let screen = screen
        return earlier.withLock { String(decoding: $0, as: UTF8.self) } + screen
    }

    /// Waits for a question, types the answer and Return.
    /// - Returns: false if the question does not come.
    package func answer(_ question: String, _ answer: String, within limit: Duration = .patience) -> Bool {
        self.answer(question, bytes: Array(answer.utf8), within: limit)
    }

    /// As the other `answer`, with bytes that need not be UTF-8.
    package func answer(_ question: String, bytes answer: [UInt8], within limit: Duration = .patience) -> Bool {
        guard eventually(within: limit, { screen.contains(question) }) else { return false }
        // Only what comes from here on is read for the next question.
        let past = heard.withLock { heard in
            defer { heard = [] }
            return heard
        }
        earlier.withLock { $0 += past }
        let bytes = answer + Array("\n".utf8)
        return write(master, bytes, bytes.count) == bytes.count
    }

    /// Waits for its end, reading what it still says.
    /// - Returns: its exit status.
    package func end() -> Int32 {
        _ = eventually {
            _ = screen
            return !process.isRunning
        }
        // One that waits for an answer for ever would keep all the tests waiting.
        if process.isRunning { process.send(SIGKILL) }
        return process.wait()
    }
}
