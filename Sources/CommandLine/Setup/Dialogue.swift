import Glibc
import System

/// Questions to a person at a terminal, or their default answers without a terminal.
struct Dialogue {
    /// Whether a person can be asked.
    let isInteractive: Bool

    /// Shows a line that belongs to the conversation, not to the result.
    func show(_ text: String) { Terminal.printError(text) }

    /// Asks for a line.
    ///
    /// - Parameter standard: the answer to an empty line, and without a terminal.
    func ask(_ question: String, _ standard: String) throws(Failure) -> String {
        guard isInteractive else { return standard }
        prompt("\(question)\(standard.isEmpty ? "" : " [\(standard)]"): ")
        let answer = try readLine()
        return answer.isEmpty ? standard : answer
    }

    /// Asks for yes or no.
    func confirm(_ question: String, _ standard: Bool) throws(Failure) -> Bool {
        guard isInteractive else { return standard }
        while true {
            prompt("\(question) [\(standard ? "Y/n" : "y/N")]: ")
            switch try readLine().lowercased() {
            case "": return standard
            case "y", "yes": return true
            case "n", "no": return false
            default: show("Please answer y or n.")
            }
        }
    }

    /// Asks for something that is not to be seen on the screen.
    func askSecret(_ question: String) throws(Failure) -> String {
        var before = termios()
        let isTerminal = tcgetattr(STDIN_FILENO, &before) == 0
        if isTerminal {
            var silent = before
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        // Only now: an early answer must be neither shown nor discarded.
        prompt("\(question): ")
        defer {
            if isTerminal {
                tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
                // The person's own line break was not shown either.
                show("")
            }
        }
        return try readLine()
    }

    private func prompt(_ text: String) { Terminal.write(Array(text.utf8), to: STDERR_FILENO) }

    /// One line of standard input without its end; blanks around it do not count.
    private func readLine() throws(Failure) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw Failure(.noInput, "the answers ended; nothing was changed") }
            if byte == UInt8(ascii: "\n") { break }
            guard bytes.count < 4096 else { throw Failure(.badData, "that line is too long") }
            bytes.append(byte)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let head = text.drop(while: \.isWhitespace)
        return String(head.reversed().drop(while: \.isWhitespace).reversed())
    }
}
