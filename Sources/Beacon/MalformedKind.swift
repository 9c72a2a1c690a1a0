/// The ways in which bytes from a controller can be wrong. Each is counted; none stops a stream.
package enum MalformedKind: UInt8, CaseIterable, Sendable {
    /// An HCI event shorter than its own header says.
    case truncatedEvent
    /// An advertising event that announces no report.
    case noReports
    /// A report that runs past the end of its event; the reports before it stand.
    case truncatedReport
    /// A report with more data than its kind of packet can carry (31 or 229 bytes).
    case oversizedData
    /// Bytes left over behind the last announced report; the reports stand.
    case trailingBytes
    /// An AD structure whose length runs past the end of the data; the structures before it stand.
    case truncatedStructure
    /// Apple's iBeacon prefix in a structure of another length than an iBeacon has.
    case inexactBeacon

    /// One word or two for logs, metrics and `--json`.
    package var name: String {
        switch self {
        case .truncatedEvent: "truncated-event"
        case .noReports: "no-reports"
        case .truncatedReport: "truncated-report"
        case .oversizedData: "oversized-data"
        case .trailingBytes: "trailing-bytes"
        case .truncatedStructure: "truncated-structure"
        case .inexactBeacon: "inexact-beacon"
        }
    }
}

/// How often each kind of malformed input was met. A fixed block of counters: counting never allocates.
package struct MalformedCounters: Sendable {
    private var counts = InlineArray<7, UInt64>(repeating: 0)

    package init() {}

    package subscript(kind: MalformedKind) -> UInt64 { counts[Int(kind.rawValue)] }

    /// All kinds together.
    package var total: UInt64 {
        MalformedKind.allCases.reduce(0) { $0 + self[$1] }
    }

    /// Adds what another part of the way has counted.
    package mutating func add(_ other: MalformedCounters) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }

    /// Out of line: what is malformed is rare, and the way past it should be short.
    @inline(never)
    package mutating func count(_ kind: MalformedKind) {
        counts[Int(kind.rawValue)] += 1
    }
}
