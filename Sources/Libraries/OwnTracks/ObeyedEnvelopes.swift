/// The envelopes of the encrypted commands that were obeyed last, by all trackers of the service. Who has no key can repeat what it
/// once saw, on any topic whose tracker has the same key, so each envelope is obeyed once.
///
/// What is forgotten is as old as its time: a command is refused, too, that is no newer than the newest one forgotten, by its own `tst`.
/// A command without one is then obeyed once more.
package struct ObeyedEnvelopes: Hashable, Sendable {
    /// The limit of remembered envelopes: 16 KB in the store.
    package static let most = 1_000

    private struct Entry: Hashable {
        let nonce: CommandDigest
        /// Its `tst`, or else when it was obeyed; epoch seconds, 0 if neither is known.
        let time: Int64
    }

    /// The latest is last.
    private var entries: [Entry] = []
    /// The latest time of all that were forgotten, epoch seconds.
    private var forgotten = Int64.min

    package init() {}

    package func contains(_ envelope: CommandEnvelope) -> Bool {
        if entries.contains(where: { $0.nonce == envelope.nonce }) { return true }
        return envelope.time.map { $0 <= forgotten } ?? false
    }

    /// Remembers the envelope of a command, as the latest.
    ///
    /// - Parameter epoch: The time of day, epoch seconds; nil if it is not known. A later `tst` counts as this one.
    package mutating func remember(_ envelope: CommandEnvelope, at epoch: Int64?) {
        let time = envelope.time.map { min($0, epoch ?? $0) } ?? epoch ?? 0
        entries.removeAll { $0.nonce == envelope.nonce }
        entries.append(Entry(nonce: envelope.nonce, time: time))
        for entry in entries.dropLast(Self.most) { forgotten = max(forgotten, entry.time) }
        entries.removeFirst(max(0, entries.count - Self.most))
    }

    // MARK: - In the store

    /// The key in the store, of each service.
    package static let storeKey = "commands obeyed"

    /// Reads what `bytes` returned. Anything else is ignored.
    package init(bytes: [UInt8]) {
        var numbers: [UInt64] = []
        var rest = bytes[...]
        while rest.count >= 8 {
            numbers.append(rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
            rest = rest.dropFirst(8)
        }
        guard rest.isEmpty, numbers.count % 2 == 1, let first = numbers.first else { return }
        forgotten = Int64(bitPattern: first)
        entries = stride(from: 1, to: numbers.count, by: 2).map {
            Entry(nonce: CommandDigest(value: numbers[$0]), time: Int64(bitPattern: numbers[$0 + 1]))
        }.suffix(Self.most)
    }

    /// Numbers of eight bytes, most significant first: the time of what was forgotten, then nonce and time of each envelope.
    package var bytes: [UInt8] {
        ([UInt64(bitPattern: forgotten)] + entries.flatMap { [$0.nonce.value, UInt64(bitPattern: $0.time)] }).flatMap {
            number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
        }
    }
}
