package import Base
import CSystemd
import Glibc
import Synchronization
import System

/// Lines on standard error with journal priorities. Any thread may log; each line is one write.
///
/// It must not receive secrets; secret values have a type whose description is masked.
package final class Log: Sendable {
    /// How a line is written.
    package enum Style: Sendable, Equatable {
        /// `<N>text`: what the journal and syslog tools read from a pipe.
        case prefixed
        /// An entry of the journal, with fields.
        case journal
        /// The text alone, for a person at a terminal. Warnings and errors begin with that word.
        case plain
    }

    private let threshold: LogPriority
    private let style: Style
    private let descriptor: Int32
    private let limiter: Mutex<LogLimiter>

    /// - Parameters:
    ///   - threshold: the least serious priority that is written.
    ///   - style: nil to choose by the kind of `descriptor`.
    package init(
        threshold: LogPriority = .info, style: Style? = nil, descriptor: Int32 = STDERR_FILENO,
        limiter: LogLimiter = LogLimiter()
    ) {
        self.threshold = threshold
        self.style =
            style ?? (isatty(descriptor) == 1 ? .plain : Journal.isBehind(descriptor) ? .journal : .prefixed)
        self.descriptor = descriptor
        self.limiter = Mutex(limiter)
    }

    /// Lines suppressed so far, by `once` or because there were too many.
    package var suppressedTotal: Int { limiter.withLock { $0.suppressedTotal } }

    /// Whether lines of this priority are written.
    package func writes(_ priority: LogPriority) -> Bool { priority <= threshold }

    package func error(_ text: @autoclosure () -> String) { write(.error, text) }
    package func warning(_ text: @autoclosure () -> String) { write(.warning, text) }
    package func notice(_ text: @autoclosure () -> String) { write(.notice, text) }
    package func info(_ text: @autoclosure () -> String) { write(.info, text) }
    package func debug(_ text: @autoclosure () -> String) { write(.debug, text) }

    /// Writes one line with fields such as `IBEACON_REGION`, which only the journal keeps.
    package func write(
        _ priority: LogPriority, _ text: String, fields: [String: String] = [:], of budget: LogLimiter.Budget = .general
    ) {
        write(priority, { text }, fields, of: budget)
    }

    /// Writes one line per kind and minute, with the number of lines left out since the last one.
    ///
    /// - Parameter kind: the kind of the line. It must not consist of outside data alone.
    package func once(
        _ kind: String, _ priority: LogPriority, _ text: @autoclosure () -> String, fields: [String: String] = [:],
        of budget: LogLimiter.Budget = .general
    ) {
        guard priority <= threshold else { return }
        let now = Clocks.now()
        write(priority, text, fields, limiter.withLock { $0.admit(kind, at: now) }, of: budget)
    }

    /// Different texts of one kind that `each` writes in a minute.
    package static let textsOfKind = 10

    /// Writes the first lines of a kind in a minute whose texts differ, at most `textsOfKind`. For mistakes of people: each one
    /// has to be seen, because each has to be mended.
    ///
    /// - Parameters:
    ///   - kind: the kind of the lines, and whose they are. It must not consist of outside data alone.
    ///   - more: what stands behind the text and makes no other text of it, such as a time, with its punctuation.
    package func each(
        _ kind: String, _ priority: LogPriority, _ text: String, more: String = "", fields: [String: String] = [:],
        of budget: LogLimiter.Budget = .general
    ) {
        guard priority <= threshold else { return }
        let now = Clocks.now()
        let decision = limiter.withLock { $0.admit(kind, text: text, of: Self.textsOfKind, at: now) }
        write(priority, { text + more }, fields, decision, of: budget)
    }

    private func write(
        _ priority: LogPriority, _ text: () -> String, _ fields: [String: String], _ decision: LogLimiter.Decision,
        of budget: LogLimiter.Budget
    ) {
        switch decision {
        case .suppress: break
        case .write(suppressed: 0): write(priority, text, fields, of: budget)
        case .write(let suppressed):
            write(priority, { "\(text()) (and \(suppressed) similar lines before)" }, fields, of: budget)
        }
    }

    /// Writes that one turn of the loop took so long. A line does not suppress that of a turn of one second or more that took at least
    /// twice as long: a slow turn at the start must not hide the one that the watchdog ends. Turns below one second share one line a minute.
    ///
    /// - Parameter consequence: What else is to be said, with its punctuation.
    package func slowTurn(_ turn: EventLoop.Turn, _ consequence: String = "") {
        let doublings = Int64.bitWidth - turn.elapsed.components.seconds.leadingZeroBitCount
        let (elapsed, processor) = (decimal(turn.elapsed), decimal(turn.processor))
        once(
            "turn \(doublings)", .warning,
            "one turn of the loop took \(elapsed) s, of which it had a processor for \(processor) s\(consequence)")
    }

    /// Writes a line that occurs once in a run, even if this minute already has too many lines.
    package func always(_ priority: LogPriority, _ text: @autoclosure () -> String) {
        if priority <= threshold { put(priority, text(), [:]) }
    }

    private func write(
        _ priority: LogPriority, _ text: () -> String, _ fields: [String: String] = [:],
        of budget: LogLimiter.Budget = .general
    ) {
        guard priority <= threshold else { return }
        switch limiter.withLock({ $0.admitLine(at: Clocks.now(), of: budget) }) {
        case .leaveOut: return
        case .write(leftOut: 0): break
        case .write(let leftOut):
            put(.warning, "\(leftOut) lines were dropped: too many in the minute before", [:])
        }
        put(priority, text(), fields)
    }

    private func put(_ priority: LogPriority, _ text: String, _ fields: [String: String]) {
        // If the journal does not answer, the line goes to the descriptor, which the journal reads too.
        if style == .journal, Journal.send(Journal.entry(priority, PrintableText.line(text), fields)) { return }
        let line = Array(Self.line(priority, text, style: style).utf8)
        var rest = line[...]
        // An error cannot be reported: a closed or full log must not stop the service.
        while !rest.isEmpty,
            let count = try? systemCall(
                "write", { rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } }),
            count > 0
        {
            rest = rest.dropFirst(count)
        }
    }

    /// One line in the given style. Outside data in it cannot begin another line or send control characters to a
    /// terminal.
    static func line(_ priority: LogPriority, _ text: String, style: Style) -> String {
        var line =
            switch (style, priority) {
            case (.prefixed, _), (.journal, _): "<\(priority.rawValue)>"
            case (.plain, .error): "error: "
            case (.plain, .warning): "warning: "
            case (.plain, _): ""
            }
        line += PrintableText.line(text)
        line.append("\n")
        return line
    }
}
