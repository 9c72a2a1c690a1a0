import Base
import Beacon
import Scanning

/// Tells an adapter's watch the scan commands of all programs and the controller's answers, and is its second ear.
///
/// While another program's discovery runs, the kernel withholds from every program what does not match the filter of that discovery. The
/// raw socket still has all reports, so they are read there instead. So they are while no scan command was seen: then a discovery
/// that began before this program did may run.
final class ScanObserver: HCIReaderDelegate {
    private let watch: AdapterWatch
    private let host: any EventHost
    private let kernel: any KernelBluetooth
    private let reader: HCIReader
    /// How long a socket that failed or does not open is left alone.
    private static let retryPeriod = Duration.seconds(5)

    private var hasComplained = false
    private var nextTry = MonotonicInstant.zero
    private var parser = AdvertisingReportParser()
    /// The set of commands with which the scan was begun; nil: none was seen yet.
    private var family: ScanFamily?
    /// Whether devices are asked by this program's own window of active scan. What only their answers say is not for presence, which would
    /// know a device during windows alone, and take its silence between them for an absence.
    var leavesOutResponses = false
    /// Whether a discovery runs.
    var isDiscovering = false { didSet { choose() } }

    init(_ watch: AdapterWatch, host: any EventHost, kernel: any KernelBluetooth) {
        self.watch = watch
        self.host = host
        self.kernel = kernel
        reader = HCIReader(watch.index, host: host, kernel: kernel)
        reader.delegate = self
    }

    var isOpen: Bool { reader.isOpen }

    /// Reports that were malformed.
    var malformed: MalformedCounters { parser.malformed }

    private var filter: HCIFilter { HCIFilter(opcodes: ScanCommand.opcodes, hasReports: watch.isObserverReading) }

    /// Chooses where the reports are read.
    private func choose() {
        let isWanted = reader.isOpen && (isDiscovering || watch.needsReports)
        guard isWanted != watch.isObserverReading else { return }
        // What waits in the raw socket is read before the kernel's reports are, and what waits there is then older.
        if !isWanted, reader.isOpen { reader.read() }
        watch.isObserverReading = isWanted && reader.isOpen
        reader.set(filter)
    }

    /// Begins, or goes on. Without the right to see commands nothing is observed, and that is said once.
    func open() {
        guard !reader.isOpen else { return }
        // Without this capability the socket opens, and the kernel withholds the commands.
        guard kernel.holds(.netRaw) else {
            return complain("\(Capability.netRaw.name) is missing: \(Capability.netRaw.remedy)")
        }
        guard reader.open(filter) else { return complain(reader.refusal) }
        if hasComplained { watch.notice(.info, "whether the controller really scans is checked now") }
        hasComplained = false
        watch.evidenceBegins(at: host.now)
    }

    private func complain(_ reason: String) {
        nextTry = host.now.advanced(by: Self.retryPeriod)
        watch.evidenceIsMissing(at: host.now)
        guard !hasComplained else { return }
        hasComplained = true
        watch.notice(.warning, "whether the controller really scans is not checked: \(reason)")
    }

    /// Ends the controller's scan, whoever has begun it. The kernel begins it again when a monitor is set.
    ///
    /// - Returns: false if nobody knows how it was begun, or the adapter has no raw socket.
    func endScan() -> Bool {
        guard reader.isOpen, let family, let socket = try? kernel.openHCI(watch.index) else { return false }
        let command = (Int32(ScanFamily.group), Int32(family.enableCommand), family.enable(false))
        return (try? socket.command(group: command.0, command: command.1, parameters: command.2)) != nil
    }

    /// Called now and then, while the adapter is ready.
    func tick() {
        if !reader.isOpen, host.now >= nextTry { open() }
        let lost = reader.lostPackets()
        if lost > 0 {
            // Commands may be among them.
            if watch.isObserverReading { watch.status.lost += UInt64(lost) }
            watch.evidenceBegins(at: host.now)
        }
        choose()
    }

    func saw(command opcode: UInt16, parameters: Span<UInt8>) {
        guard let command = ScanCommand(opcode: opcode, parameters: parameters) else { return }
        family = command.family ?? family
        watch.saw(command, at: host.now)
        choose()
    }

    func answered(_ opcode: UInt16, status: UInt8, result: Span<UInt8>) {
        guard ScanCommand.opcodes.contains(opcode) else { return }
        watch.answered(opcode, status: status, at: host.now)
    }

    func received(event: Span<UInt8>) {
        let now = host.now
        if leavesOutResponses, let rest = ScanResponses.removed(from: event) {
            return rest[3] > 0 ? parser.parse(event: rest.span) { watch.observed($0, data: $1, at: now) } : ()
        }
        parser.parse(event: event) { watch.observed($0, data: $1, at: now) }
    }

    func readerFailed(_ reason: String) {
        // The adapter is gone, as a rule. It is opened again when the adapter is ready; if it still is, a moment later.
        nextTry = host.now.advanced(by: Self.retryPeriod)
        watch.evidenceBegins(at: host.now)
        choose()
    }
}
