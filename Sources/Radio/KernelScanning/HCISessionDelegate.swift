import Base
import Beacon

/// The receiver of an `HCISession`'s events.
protocol HCISessionDelegate: AnyObject {
    func sessionScans(_ session: HCISession, at now: MonotonicInstant)
    func sessionPauses(_ session: HCISession, because reason: String, at now: MonotonicInstant)
    /// The controller refuses the scan. `restart` tries again.
    func sessionFails(_ session: HCISession, at now: MonotonicInstant)
    /// No socket could be opened. It is tried again.
    func session(_ session: HCISession, cannotOpen reason: String, at now: MonotonicInstant)
    /// A new socket was opened: what was seen before holds no longer.
    func sessionOpened(_ session: HCISession, at now: MonotonicInstant)
    /// A scan command was sent, by this or another program.
    func session(_ session: HCISession, saw command: ScanCommand, at now: MonotonicInstant)
    /// The controller answered a command.
    func session(_ session: HCISession, answered opcode: UInt16, status: UInt8, at now: MonotonicInstant)
    /// The controller left two commands in a row unanswered.
    func sessionHangs(_ session: HCISession)
    func session(_ session: HCISession, heard report: AdvertisingReport, data: Span<UInt8>, at now: MonotonicInstant)
    func session(_ session: HCISession, says priority: LogPriority, _ text: String)
}
