import Base

/// A boot of this machine in which the store was open.
struct BootRow: StoredRow, Hashable {
    enum Column: Int, ResultColumn { case number, id, wallOffset }

    static let table = Table<Column>("boot")

    /// Counts boots in their order.
    let number: Int64
    /// `/proc/sys/kernel/random/boot_id`
    let id: String
    /// Epoch nanoseconds at the zero of its CLOCK_BOOTTIME, as reported last; nil while unknown.
    var wallClock: WallClock?

    init(number: Int64, id: String, wallClock: WallClock?) {
        self.number = number
        self.id = id
        self.wallClock = wallClock
    }

    init?(values: Row<Column>) {
        guard let number = values[.number].asInteger, let id = values[.id].asText else { return nil }
        self.init(
            number: number, id: id,
            wallClock: values[.wallOffset].asInteger.map { WallClock(epochOffset: $0, isKnown: true) })
    }

    var values: Row<Column> {
        [.number: .integer(number), .id: .text(id), .wallOffset: .optional(wallClock?.epochOffset)]
    }
}
