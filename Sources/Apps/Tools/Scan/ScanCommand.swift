import Base
import Beacon
import Configuration
import GatewayApp
import Glibc
import OwnTracks
import Regions
import Runtime
import Scanning
import Shell
import Storage
import System

/// `scan`: shows the beacons nearby, with or without a running service.
enum ScanCommand {
    static let specification = CommandSpecification(
        "scan", "show the beacons nearby",
        options: [
            OptionSpecification("duration", "SECONDS", "stop after this time (default: when interrupted)"),
            OptionSpecification("all", nil, "show every advertiser, and what a region of it is called"),
            OptionSpecification("write", "FILE", "record what is heard, as a btsnoop file for replay"),
        ],
        examples: [
            ("ibeacon-gateway scan", "a table that is refreshed every second"),
            ("ibeacon-gateway scan --json --duration 10", "a JSON line per beacon and second"),
            ("ibeacon-gateway scan --duration 60 --write walk.btsnoop", "a capture for replay"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        if let word = arguments.operands.first { throw Failure(.usage, "scan takes no '\(word)'") }
        // Before a recording that is there is replaced.
        let duration = try arguments.seconds("duration")
        let settings = try Settings.load(arguments, isOptional: true)
        let table = ScanTable(
            regions: regions(settings), masks: settings.configuration.batteryMasks,
            resolver: settings.resolver { if !arguments.has("quiet") { Terminal.printError($0) } },
            includesOthers: arguments.has("all"))
        let recorder = try arguments.value("write").map(CaptureRecorder.init)
        let session = try ScanSession(settings, arguments, table: table, recorder: recorder)
        return try session.run(for: duration)
    }

    /// The regions of the configuration, and the stored regions of the service if this user may read them.
    private static func regions(_ settings: Settings) -> [Region] {
        var regions = RegionSet()
        if let stored = try? StoreReader(directory: settings.stateDirectory).regions() {
            for set in stored.values { regions.apply(set.regions.map { .set($0, isRIDDerived: false) }) }
        }
        for tracker in settings.configuration.trackers { regions.apply(tracker.waypoints.changes) }
        return regions.regions
    }
}

/// One run of `scan`, with its own event loop.
private final class ScanSession: ScannerOutput {
    private let loop: EventLoop
    private let log: Log
    private let isJSON: Bool
    private let isLive: Bool
    private let isQuiet: Bool
    private let isVerbose: Bool
    private let tellsMalformed: Bool
    private let recorder: CaptureRecorder?
    private var table: ScanTable
    /// What a table on a terminal has below it.
    private var remarks = ScanRemarks()
    private var scanner: (any Scanner)?
    private var timer: LoopTimer?
    private var signals: [SignalWatch] = []
    private var lastShown = MonotonicInstant.zero
    private var end: MonotonicInstant?
    private var hasListened = false

    init(_ settings: Settings, _ arguments: Arguments, table: ScanTable, recorder: CaptureRecorder?) throws {
        loop = try EventLoop()
        log = Log(threshold: .info)
        isJSON = arguments.has("json")
        isLive = Terminal.isInteractive && !isJSON
        isQuiet = arguments.has("quiet")
        isVerbose = arguments.has("verbose")
        tellsMalformed = arguments.has("all") && !isQuiet
        self.table = table
        self.recorder = recorder
        scanner = try mapError({ Self.failure($0) }) { () throws(ScannerError) in
            try settings.makeScanner(host: LoopHost(loop: loop, log: log), output: self)
        }
        scanner?.setPatterns(table.patterns)
    }

    func run(for duration: Duration?) throws -> ExitCode {
        try mapError({ Self.failure($0) }) { () throws(ScannerError) in
            try scanner?.start()
        }
        let now = Clocks.now()
        lastShown = now
        end = duration.map { now.advanced(by: $0) }
        for signal in Interruption.signals {
            signals.append(try loop.onSignal(signal) { [unowned self] in finish() })
        }
        let timer = try loop.timer { [unowned self] in tick(at: $0) }
        self.timer = timer
        arm(after: now)
        let code = try loop.run()
        if let failure = recorder?.failure {
            if failure.isClosedPipe { Terminal.endByClosedPipe() }
            throw Failure(.inputOutput, "\(failure)")
        }
        return ExitCode(rawValue: code) ?? .ok
    }

    private static func failure(_ error: ScannerError) -> Failure {
        switch error.kind {
        case .permission: Failure(.noPermission, error.description)
        case .unavailable: Failure(.unavailable, error.description)
        case .badInput: Failure(.noInput, error.description)
        }
    }

    private func arm(after now: MonotonicInstant) {
        let next = now.advanced(by: .seconds(1))
        try? timer?.arm(at: end.map { min($0, next) } ?? next)
    }

    private func tick(at now: MonotonicInstant) {
        if let end, now >= end { return finish() }
        // A session that is lost, or killed, keeps what was heard.
        recorder?.flush()
        if isJSON {
            for line in table.json(after: lastShown, at: now) { Terminal.print(json: line) }
        } else if isLive {
            Terminal.showPage(remarks.page(table.text(at: now)))
        }
        lastShown = now
        arm(after: now)
    }

    private func finish() {
        let now = Clocks.now()
        scanner?.stop()
        recorder?.flush()
        if isJSON {
            for line in table.json(after: lastShown, at: now) { Terminal.print(json: line) }
        } else if isLive {
            Terminal.showPage(remarks.page(table.text(at: now)))
        } else {
            Terminal.print(table.text(at: now))
        }
        if tellsMalformed {
            var malformed = table.malformed
            for adapter in scanner?.adapters ?? [] { malformed.add(adapter.malformed) }
            Terminal.printError(malformed.text)
        }
        // The reason is logged already.
        loop.exit((hasListened ? ExitCode.ok : .unavailable).rawValue)
    }

    // MARK: ScannerOutput

    func heard(
        _ report: AdvertisingReport, data: Span<UInt8>, by receiver: Receiver, at instant: MonotonicInstant
    ) {
        table.heard(report, data: data, by: receiver, at: instant)
        recorder?.write(report, data: data, by: receiver)
    }

    func listening(_ isListening: Bool, of receiver: Receiver, at instant: MonotonicInstant, because reason: String) {
        if isListening { hasListened = true }
        remarks.listening(isListening, of: receiver, because: reason)
        if isVerbose { Terminal.printError("\(isListening ? "listening" : "not listening"): \(reason)") }
    }

    func notice(_ notice: Notice) {
        let threshold: LogPriority = isVerbose ? .debug : isQuiet ? .error : .info
        guard notice.priority <= threshold else { return }
        // The table would be written over it.
        remarks.add(notice.text)
        Terminal.printError(notice.text)
    }

    func finished(at instant: MonotonicInstant) { finish() }
}

extension CaptureError {
    /// Whether the capture goes to a pipe whose reader has ended.
    fileprivate var isClosedPipe: Bool {
        if case .cannotWrite(let error) = reason { error.code == EPIPE && file == "-" } else { false }
    }
}
