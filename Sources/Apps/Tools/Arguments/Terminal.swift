import Base
import Glibc
import System

/// Standard output and standard error. All output of commands passes through this type, which makes it harmless for a
/// terminal: names come from outside. `Scripts/validate` finds a command that prints in another way.
enum Terminal {
    /// Writes a line to standard output.
    static func print(_ text: String) { send(PrintableText.shown(text, keepsLines: true) + "\n", to: STDOUT_FILENO) }

    /// Writes one or more lines of JSON to standard output. What a terminal would interpret is escaped, not replaced,
    /// so that a program that reads the JSON gets every name unchanged.
    static func print(json text: String) { print(jsonLines: Array((text + "\n").utf8)) }

    /// Writes whole lines of JSON to standard output.
    static func print(jsonLines bytes: [UInt8]) {
        let isPlain = PrintableText.isPlain(bytes)
        write(
            isPlain ? bytes : Array(PrintableText.escaped(json: String(decoding: bytes, as: UTF8.self)).utf8),
            to: STDOUT_FILENO)
    }

    /// Writes a line to standard error.
    static func printError(_ text: String) {
        send(PrintableText.shown(text, keepsLines: true) + "\n", to: STDERR_FILENO)
    }

    /// Replaces the content of the terminal with a text.
    static func showPage(_ text: String) {
        // Cursor home, then clear to the end: this flickers less than clearing first.
        send("\u{1B}[H\u{1B}[J" + PrintableText.shown(text, keepsLines: true) + "\n", to: STDOUT_FILENO)
    }

    /// Replaces the cursor's line, on standard output or standard error. The next output continues that line.
    static func showProgress(_ text: String, onError: Bool) {
        send("\r\u{1B}[K" + PrintableText.shown(text), to: onError ? STDERR_FILENO : STDOUT_FILENO)
    }

    /// Writes a question to standard error, without a line end.
    static func prompt(_ text: String) { send(PrintableText.shown(text, keepsLines: true), to: STDERR_FILENO) }

    private static func send(_ text: String, to descriptor: CInt) { write(Array(text.utf8), to: descriptor) }

    /// Whether standard output is a terminal.
    static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

    /// A column of a table: its title, and its cell for a row.
    typealias Column<Row> = (title: String, cell: (Row) -> String)

    static func table<Row>(_ rows: [Row], _ columns: [Column<Row>]) -> String {
        table(columns.map(\.title), rows.map { row in columns.map { $0.cell(row) } })
    }

    /// Left-aligned columns, separated by two blanks. Control characters are replaced.
    static func table(_ header: [String], _ rows: [[String]]) -> String {
        let cells = ([header] + rows).map { $0.map(printable) }
        let widths = header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            let padded = zip(row, widths).map { text, width in text + String(repeating: " ", count: width - text.count)
            }
            let line = padded.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }

    /// Makes a name from outside harmless for a single line.
    static func printable(_ text: String) -> String { PrintableText.shown(text) }

    /// Writes all of `bytes`. If standard output fails, the program ends: later output would be lost too, and the exit
    /// status must tell scripts of the failure.
    private static func write(_ bytes: [UInt8], to descriptor: CInt) {
        do throws(SystemError) {
            try writeAll(bytes, to: descriptor)
        } catch {
            if descriptor == STDOUT_FILENO { endByOutputFailure(error) }
        }
    }

    /// Closes standard output. Some file systems, such as network ones, report a full disk only then.
    static func closeOutput() {
        // EBADF: the caller closed standard output before the start and wants no output.
        guard close(STDOUT_FILENO) != 0, errno != EBADF else { return }
        endByOutputFailure(SystemError("close", code: errno))
    }

    /// Ends the program by SIGPIPE, like a filter whose reader has ended.
    static func endByClosedPipe() -> Never { end(by: SIGPIPE) }

    /// Ends the program by a signal, as if it had not been caught or ignored.
    static func end(by number: Int32) -> Never {
        signal(number, SIG_DFL)
        // A loop blocks signals.
        unblock(number)
        raise(number)
        exit(ExitCode.inputOutput.rawValue)
    }

    static func unblock(_ number: Int32) {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    private static func endByOutputFailure(_ error: SystemError) -> Never {
        if error.code == EPIPE { endByClosedPipe() }
        printError("ibeacon-gateway: cannot write to standard output: \(error.message)")
        exit(ExitCode.inputOutput.rawValue)
    }

    /// Occupies each of the descriptors 0 to 2 that the caller has closed. Otherwise the next opened file, such as the
    /// state, would get that number, and messages for the terminal would go to that file.
    static func occupyStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // Opened in the wrong direction, so that each use fails with EBADF, as if the descriptor were closed.
            let opened = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
            if opened >= 0, opened != descriptor {
                dup2(opened, descriptor)
                close(opened)
            }
        }
    }
}
