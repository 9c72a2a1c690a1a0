import Base

/// Which notes are written: strangers, who may come a thousand times a second, cause one line a minute.
struct ProxyNotes {
    private var failures = RateBucket(capacity: 1, period: .seconds(60))
    private var refusals = RateBucket(capacity: 1, period: .seconds(60))
    /// Clients that know the key, which may all come or go at once.
    private var clients = RateBucket(capacity: 2 * ProxyServer.mostClients, period: .seconds(60))
    private var failed: UInt64 = 0

    mutating func failure(_ failure: ProxyFailure, address: String, at now: MonotonicInstant) -> [ProxyServer.Effect] {
        failed += 1
        guard failures.admits(at: now) else { return [] }
        defer { failed = 0 }
        return [.note(.failed(count: failed, address: address, failure))]
    }

    mutating func refusal(_ reason: String, address: String, at now: MonotonicInstant) -> [ProxyServer.Effect] {
        refusals.admits(at: now) ? [.note(.refused(address: address, reason: reason))] : []
    }

    mutating func client(_ note: ProxyNote, at now: MonotonicInstant) -> [ProxyServer.Effect] {
        clients.admits(at: now) ? [.note(note)] : []
    }
}
