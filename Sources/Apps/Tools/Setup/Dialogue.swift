import Base
import Glibc
import System

/// Asks the user at a terminal. Without a terminal it returns the default answers.
struct Dialogue {
    /// Whether the user can be asked.
    let isInteractive: Bool

    /// Shows a line that is part of the dialogue, not of the result.
    func show(_ text: String) { Terminal.printError(text) }

    /// Asks for a line.
    ///
    /// - Parameter standard: The answer for an empty line, and without a terminal.
    func ask(_ question: String, _ standard: String) throws(Failure) -> String {
        guard isInteractive else { return standard }
        let answer = try line(after: "\(question)\(standard.isEmpty ? "" : " [\(standard)]"): ")
        return answer.isEmpty ? standard : answer
    }

    /// Asks for yes or no.
    func confirm(_ question: String, _ standard: Bool) throws(Failure) -> Bool {
        guard isInteractive else { return standard }
        while true {
            switch try line(after: "\(question) [\(standard ? "Y/n" : "y/N")]: ").lowercased() {
            case "": return standard
            case "y", "yes": return true
            case "n", "no": return false
            default: show("Please answer y or n.")
            }
        }
    }

    /// Asks for a secret, without showing it on the screen.
    func askSecret(_ question: String) throws(Failure) -> String {
        var before = termios()
        let isTerminal = tcgetattr(STDIN_FILENO, &before) == 0
        if isTerminal {
            var silent = before
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        defer {
            if isTerminal {
                tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
                // The user's line break was not shown either.
                show("")
            }
        }
        // The prompt comes after the echo is off: an early answer must be neither shown nor discarded.
        return try line(after: "\(question): ")
    }

    /// Prompts until the answer is UTF-8. A terminal with other characters would change names and passwords without a word.
    private func line(after prompt: String) throws(Failure) -> String {
        while true {
            Terminal.prompt(prompt)
            if let line = try readLine() { return line }
            show("That is not UTF-8. Set the characters of the terminal to UTF-8, or write ASCII.")
        }
    }

    /// One line of standard input, without the line end and surrounding blanks.
    ///
    /// - Returns: nil if it is not UTF-8.
    private func readLine() throws(Failure) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw Failure(.noInput, "the input ended; nothing was changed") }
            if byte == UInt8(ascii: "\n") { break }
            guard bytes.count < 4096 else { throw Failure(.badData, "that line is too long") }
            bytes.append(byte)
        }
        return String(validating: bytes, as: UTF8.self).map { String($0[...].trimmed) }
    }
}
