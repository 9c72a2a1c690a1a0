import Base

/// The ways in which bytes from a controller can be wrong. Each is counted; none stops a stream.
public enum MalformedKind: UInt8, CaseIterable, Sendable {
    /// An HCI event shorter than its header announces.
    case truncatedEvent
    /// An advertising event that announces no report.
    case noReports
    /// A report that exceeds its event; the reports before it are valid.
    case truncatedReport
    /// A report with more data than its kind of packet can carry (31 or 229 bytes).
    case oversizedData
    /// Extra bytes after the last announced report; the reports are valid.
    case trailingBytes
    /// An AD structure whose length exceeds the data; the structures before it are valid.
    case truncatedStructure
    /// Apple's iBeacon prefix in a structure that is shorter than an iBeacon, or longer by more than one byte.
    case inexactBeacon
    /// A telemetry frame that is not whole, or has a battery level above 100 %.
    case inexactTelemetry

    /// One or two words for logs, metrics and `--json`.
    public var name: String { separatedWords(of: "\(self)", by: "-") }
}
