import Base

/// Filters at which the broker ends the connection, and when they are requested again.
struct FatalFilters {
    /// The first pause; each further one is twice as long. A trial costs a connection.
    static let firstPause: Duration = .seconds(600)
    static let longestPause: Duration = .seconds(86_400)

    private struct Pause {
        var length: Duration
        var end: MonotonicInstant
    }

    private var pauses: [String: Pause] = [:]
    /// The one that the last connection ended at. If the broker is away now, it ended all connections, and no filter is the reason.
    private var unproven: String?

    /// The connection ended when this filter was requested.
    mutating func suspect(_ filter: String, at now: MonotonicInstant) {
        let length = pauses[filter].map { min($0.length * 2, Self.longestPause) } ?? Self.firstPause
        pauses[filter] = Pause(length: length, end: now.advanced(by: length))
        unproven = filter
    }

    /// An attempt to connect failed.
    mutating func attemptFailed() {
        if let unproven { pauses[unproven] = nil }
        unproven = nil
    }

    /// The broker accepts a connection.
    ///
    /// - Returns: The filter that ended the one before.
    mutating func accepted() -> String? {
        defer { unproven = nil }
        return unproven
    }

    /// The broker answered the request, whatever it said.
    mutating func answered(_ filter: String) { pauses[filter] = nil }

    /// Whether the filter may be requested.
    func admits(_ filter: String, at now: MonotonicInstant) -> Bool { pauses[filter].map { now >= $0.end } ?? true }

    /// The filters whose pause is over.
    func due(at now: MonotonicInstant, wanted: Set<String>) -> Set<String> {
        Set(pauses.filter { now >= $0.value.end && wanted.contains($0.key) }.keys)
    }
}
