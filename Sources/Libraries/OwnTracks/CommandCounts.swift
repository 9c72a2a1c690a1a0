package import JSON

/// The number of commands on `/cmd` since the start, by what became of them.
package struct CommandCounts: Hashable, Sendable {
    package private(set) var done: UInt64 = 0
    private var refusedByReason: [CommandRefusal.Reason: UInt64] = [:]

    package init() {}

    package var refused: UInt64 { refusedByReason.values.reduce(0, +) }

    package subscript(reason: CommandRefusal.Reason) -> UInt64 { refusedByReason[reason] ?? 0 }

    mutating func countDone() { done += 1 }

    mutating func countRefused(_ reason: CommandRefusal.Reason) { refusedByReason[reason, default: 0] += 1 }

    /// Members of `counters` in `/status.json` and in the answer to `status`. Reasons that did not occur are left out.
    package var json: [String: JSONValue] {
        func number(_ count: UInt64) -> JSONValue { .integer(Int64(clamping: count)) }
        let reasons = refusedByReason.map { ($0.rawValue, number($1)) }
        return [
            "commands": number(done), "commandsRefused": number(refused),
            "commandsRefusedByReason": .object(Dictionary(uniqueKeysWithValues: reasons)),
        ]
    }
}
