import Base
import Beacon
import Glibc
import HostSupport
import Scanning

/// Writes down what a scanner says, one line each, for scenarios to read.
final class Tally: ScannerOutput {
    /// After a longer silence of all beacons together, the first report gets a line.
    private static let silenceWorthALine = Duration.milliseconds(500)

    private let host: PollLoop
    private var malformed = MalformedCounters()
    private var lastHeard: [BeaconID: MonotonicInstant] = [:]
    private var lastReport = MonotonicInstant.zero
    private var longestGap = Duration.zero
    private var listening: Set<Receiver> = []
    private var longestPause = Duration.zero
    private var pausedSince: MonotonicInstant?
    private var windows: [Receiver: ActiveScan] = [:]
    private var reports = 0
    private var others = 0
    private var nextSecond: MonotonicInstant
    private var atLastSecond = 0

    init(_ host: PollLoop) {
        self.host = host
        nextSecond = host.now.advanced(by: .seconds(1))
    }

    func heard(_ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant) {
        guard let beacon = IBeacon(advertisingData: data, malformed: &malformed) else {
            others += 1
            return
        }
        reports += 1
        if let last = lastHeard[beacon.id] { longestGap = max(longestGap, last.duration(to: instant)) }
        lastHeard[beacon.id] = instant
        let silence = lastReport.duration(to: instant)
        if silence > Self.silenceWorthALine { line("again gap_ms=\(silence.nanoseconds / 1_000_000)") }
        lastReport = instant
    }

    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String) {
        if isListening { listening.insert(receiver) } else { listening.remove(receiver) }
        if listening.isEmpty {
            pausedSince = pausedSince ?? instant
        } else if let since = pausedSince {
            longestPause = max(longestPause, since.duration(to: instant))
            pausedSince = nil
        }
        line("listening hci\(receiver.index) \(isListening ? "on" : "off") \(reason)")
    }

    func notice(_ notice: Notice) { line("notice \(notice.priority) \(notice.text)") }

    func finished(at instant: MonotonicInstant) { line("finished") }

    /// A line each second, so that a scenario can see whether reports come at the moment.
    func tick(_ adapters: [AdapterStatus]) {
        for adapter in adapters where windows[adapter.receiver] != adapter.activeScan {
            windows[adapter.receiver] = adapter.activeScan
            line("window \(adapter.name) \(adapter.activeScan)")
        }
        guard host.now >= nextSecond else { return }
        nextSecond = nextSecond.advanced(by: .seconds(1))
        line("second reports=\(reports - atLastSecond)")
        atLastSecond = reports
    }

    func total(of adapters: [AdapterStatus]) {
        for adapter in adapters {
            line(
                """
                adapter \(adapter.name) reports=\(adapter.reports) malformed=\(kinds(adapter.malformed)) \
                lost=\(adapter.lost) restarts=\(adapter.restarts) duty=\(adapter.duty ?? -1)
                """)
        }
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let cpu = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
        line(
            """
            total reports=\(reports) others=\(others) beacons=\(lastHeard.count) \
            gap_ms=\(longestGap.nanoseconds / 1_000_000) pause_ms=\(longestPause.nanoseconds / 1_000_000) \
            malformed=\(kinds(malformed)) \
            lost=\(adapters.reduce(0) { $0 + $1.lost }) cpu_ms=\(cpu)
            """)
    }

    /// The number, and in brackets what it is made of.
    private func kinds(_ counters: MalformedCounters) -> String {
        let met = MalformedKind.allCases.filter { counters[$0] > 0 }.map { "\($0.name):\(counters[$0])" }
        return "\(counters.total)[\(met.joined(separator: ","))]"
    }

    private func milliseconds(_ time: timeval) -> Int { time.tv_sec * 1000 + Int(time.tv_usec) / 1000 }

    private func line(_ text: String) {
        print("\(host.now.nanoseconds / 1_000_000) \(text)")
        fflush(nil)
    }
}
