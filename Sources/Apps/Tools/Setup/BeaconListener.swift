import Base
import Beacon
import GatewayApp
import Glibc
import Runtime
import Scanning
import Shell
import System

/// Listens for some time and reports which beacons were heard, and how strong.
final class BeaconListener: ScannerOutput {
    /// One beacon.
    struct Heard {
        let beacon: BeaconID
        fileprivate(set) var reports = 0
        fileprivate var sum = 0

        /// Mean strength in dBm.
        var strength: Int { reports == 0 ? -127 : sum / reports }
    }

    private let loop: EventLoop
    private var beacons: [BeaconID: Heard] = [:]
    private var malformed = MalformedCounters()
    private var scanner: (any Scanner)?
    private var isFinished = false
    /// Advertising reports of all kinds.
    private(set) var reports = 0
    /// Whether any receiver listened at any time.
    private(set) var hasListened = false
    /// The scanner's problems, each once.
    private(set) var problems: [String] = []

    /// Largest number of beacons, to limit memory.
    private static let mostBeacons = 1000

    private init() throws(SystemError) { loop = try EventLoop() }

    /// Listens with the scanner of the settings. A recording may end earlier.
    static func listen(_ settings: Settings, for duration: Duration) throws -> BeaconListener {
        let listener = try BeaconListener()
        try listener.run(settings, until: Clocks.now().advanced(by: duration))
        return listener
    }

    private func run(_ settings: Settings, until end: MonotonicInstant) throws {
        let interruption = try Interruption(loop)
        let log = Log(threshold: .error)
        do throws(ScannerError) {
            let scanner = try settings.makeScanner(host: LoopHost(loop: loop, log: log), output: self)
            self.scanner = scanner
            try scanner.start()
        } catch {
            problems.append(error.description)
            return
        }
        try loop.step(until: end) { isFinished || interruption.signal != nil }
        adapters = scanner?.adapters ?? []
        problem = scanner?.problem
        scanner?.stop()
        scanner = nil
        interruption.endProgram()
    }

    /// Why no adapter could be used at the end, as far as the scanner knows it.
    private(set) var problem: ScanProblem?
    /// The state of the adapters.
    private(set) var adapters: [AdapterStatus] = []

    /// The strongest first.
    var heard: [Heard] { beacons.values.sorted { ($0.strength, $0.reports) > ($1.strength, $1.reports) } }

    // MARK: ScannerOutput

    func heard(
        _ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant
    ) {
        reports += 1
        guard let frame = IBeacon(advertisingData: data, malformed: &malformed), let rssi = report.rssi else { return }
        guard beacons[frame.id] != nil || beacons.count < Self.mostBeacons else { return }
        var heard = beacons[frame.id] ?? Heard(beacon: frame.id)
        heard.reports += 1
        heard.sum += Int(rssi.dBm)
        beacons[frame.id] = heard
    }

    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String) {
        if isListening { hasListened = true }
    }

    func notice(_ notice: Notice) {
        guard notice.priority <= .warning, !problems.contains(notice.text) else { return }
        problems.append(notice.text)
    }

    func finished(at instant: MonotonicInstant) { isFinished = true }
}
