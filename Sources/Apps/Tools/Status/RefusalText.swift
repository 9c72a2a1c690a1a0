import Base
import Health

/// What brokers and servers refuse now, as `status` prints it.
enum RefusalText {
    /// - Returns: nil if nothing is refused.
    static func table(_ record: RefusalRecord, at now: MonotonicInstant) -> String? {
        let refusals = record.entries.filter { !$0.isOver }
        guard !refusals.isEmpty else { return nil }
        return Terminal.table(
            refusals,
            [
                ("REFUSED", { $0.refused.kind.rawValue }), ("WHAT", { Terminal.printable($0.refused.object) }),
                ("CONNECTION", { Terminal.printable($0.refused.connection) }), ("COUNT", { "\($0.count)" }),
                ("FIRST", { "\(StatusText.span($0.first.duration(to: now))) ago" }),
                ("LAST", { "\(StatusText.span($0.last.duration(to: now))) ago" }),
                ("REASON", { Terminal.printable($0.refused.reason) }),
            ])
    }
}
