import Base
import Gateway
import Runtime

extension Log {
    /// Writes a line of the core. Warnings of one kind and scope are written once a minute for each text.
    func write(_ entry: LogEntry) {
        let fields = entry.fields.merging(["IBEACON_KIND": entry.kind]) { own, _ in own }
        if entry.priority <= .warning {
            each("\(entry.kind) \(entry.scope)", entry.priority, entry.text, fields: fields, of: entry.budget)
        } else {
            write(entry.priority, entry.text, fields: fields, of: entry.budget)
        }
    }
}

extension LogEntry {
    /// What the line counts against, so that others cannot use up the lines of transitions and refusals.
    fileprivate var budget: LogLimiter.Budget {
        kind == "transition" ? .transitions : kind.hasSuffix("-refused") ? .refusals : .general
    }
}
