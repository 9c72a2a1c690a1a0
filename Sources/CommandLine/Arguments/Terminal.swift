import Glibc
import System

/// Standard output and standard error.
enum Terminal {
    /// Writes a line to standard output.
    static func print(_ text: String) {
        write(Array((text + "\n").utf8), to: STDOUT_FILENO)
    }

    /// Writes a line to standard error.
    static func printError(_ text: String) {
        write(Array((text + "\n").utf8), to: STDERR_FILENO)
    }

    /// Whether standard output is a terminal.
    static var isInteractive: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Left-aligned columns, separated by two blanks. Control characters are escaped.
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

    /// Text from outside without characters that control a terminal.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory.isHarmless ? $0 : "\u{FFFD}" }))
    }

    /// Text from outside with control characters as `\x1b`, so that nothing is lost. Line feeds and tabs stay.
    static func escapingControls(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isTerminalControl) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.isTerminalControl {
                result += (scalar.value < 0x10 ? "\\x0" : "\\x") + String(scalar.value, radix: 16)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    /// Writes all of `bytes`. If standard output fails, the program ends here: later output would be lost too, and a
    /// script must learn of the failure from the exit status.
    static func write(_ bytes: [UInt8], to descriptor: CInt) {
        guard !bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }), descriptor == STDOUT_FILENO else { return }
        endByOutputFailure(errno)
    }

    /// Closes standard output. Some file systems, such as network ones, report a full disk only then.
    static func closeOutput() {
        // EBADF: the caller closed standard output before the start and wants no output.
        guard close(STDOUT_FILENO) != 0, errno != EBADF else { return }
        endByOutputFailure(errno)
    }

    /// Ends the program by SIGPIPE, like a filter whose reader has ended.
    static func endByClosedPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        // A service's loop blocks signals.
        pthread_sigmask(SIG_UNBLOCK, &pipe, nil)
        raise(SIGPIPE)
        exit(ExitCode.inputOutput.rawValue)
    }

    private static func endByOutputFailure(_ code: CInt) -> Never {
        if code == EPIPE { endByClosedPipe() }
        printError("ibeacon-gateway: cannot write to standard output: \(String(cString: strerror(code)))")
        exit(ExitCode.inputOutput.rawValue)
    }

    /// Occupies those of the descriptors 0 to 2 that the caller has closed. Otherwise the next opened file, such as the
    /// state, gets such a number, and messages for the terminal are written into it.
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

extension Unicode.Scalar {
    fileprivate var isTerminalControl: Bool {
        properties.generalCategory == .control && self != "\n" && self != "\t"
    }
}

extension Unicode.GeneralCategory {
    /// Whether this is neither a control character nor a direction mark nor part of a character.
    fileprivate var isHarmless: Bool {
        switch self {
        case .control, .format, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
