import Base
import Beacon
import Configuration
import Gateway
import Glibc
import Identities
import OwnTracks
import Regions
import Scanning
import Shell
import System

/// `replay`: plays recordings through the whole gateway, in virtual time. It does not touch the stored state.
enum ReplayCommand {
    static let specification = CommandSpecification(
        "replay", operands: "CAPTURE…", "play btsnoop captures through the whole gateway, in virtual time",
        options: [
            OptionSpecification("regions", "FILE", "an OwnTracks .otrw file with the regions"),
            OptionSpecification(
                "tail", "SECONDS", "keep listening after the last record, so that pending leaves happen"),
            OptionSpecification("publish", nil, "also send the messages to the configured broker"),
            OptionSpecification("speed", "N", "play at N times the recorded speed (default: as fast as possible)"),
        ],
        examples: [
            (
                "ibeacon-gateway replay walk.btsnoop --regions home.otrw --tail 120",
                "every message that would be published, one JSON line each"
            ),
            (
                "ibeacon-gateway replay walk.btsnoop --regions home.otrw | jq -r 'select(.payload.event) | .payload | \"\\(.tst) \\(.event) \\(.desc)\"'",
                "who came and went, and when"
            ),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        guard !arguments.operands.isEmpty else {
            throw Failure(.usage, "name the capture to play; see 'ibeacon-gateway replay --help'")
        }
        let tail = try arguments.seconds("tail") ?? .zero
        let pace = Pace(speed: try arguments.positiveNumber("speed"))
        let settings = try Settings.load(arguments, isOptional: true)
        let log = { (text: String) in if !arguments.has("quiet") { Terminal.printError(text) } }
        let base = settings.configuration.numberBase
        let reading = try arguments.value("regions").map { file throws(Failure) in try regions(in: file, base: base) }
        var output = LineBuffer()
        let publisher =
            arguments.has("publish") ? try DirectPublisher(settings.configuration, purpose: "replay") : nil
        var gateway = Gateway(
            configuration: settings.configuration, wallClock: WallClock(epochOffset: 0, isKnown: true),
            explainsTransitions: arguments.has("verbose"))
        var stored: [RegionSet] = []
        if let reading { stored.append(reading.regions) }
        _ = gateway.handle(
            .start(StoredState(configuration: settings.configuration, regions: stored)), at: .zero)
        if !gateway.trackers.contains(where: { hasBeacon($0.regions) }) {
            Terminal.printError(
                "there are no beacon regions, so nothing comes and nothing goes; name a file with them: --regions FILE")
        }
        var replay = Replay(gateway: gateway, resolver: settings.resolver(log, more: reading?.keys ?? []))
        var failure: CaptureError?
        let started = ContinuousClock.now
        let perform = { (effect: Gateway.Effect) in
            output.add(effect, isVerbose: arguments.has("verbose"), log)
            if case .publish(let message) = effect { publisher?.publish(message) }
        }
        do throws(CaptureError) {
            for path in arguments.operands { try replay.play(path, pace: pace.wait, perform) }
        } catch {
            failure = error
        }
        replay.listen(for: tail, pace: pace.wait, perform)
        output.flush()
        try publisher?.finish()
        log(summary(of: replay, took: ContinuousClock.now - started))
        if let failure {
            throw Failure(failure.isMissingFile ? .noInput : .badData, failure.description)
        }
        return .ok
    }

    /// Reads the file of `--regions`. What is wrong with single regions is told with `--quiet`, too.
    ///
    /// - Throws: `Failure` also if no beacon can enter or leave by it: zeros would look like a result.
    private static func regions(
        in file: String, base: NumberBase
    ) throws(Failure) -> (regions: RegionSet, keys: [NamedKey]) {
        let reading = try WaypointsFile.read(file, base: base, acceptsKeys: true)
        for problem in reading.problems { Terminal.printError("\(file): \(problem)") }
        var regions = RegionSet()
        regions.apply(reading.changes)
        guard hasBeacon(regions) else { throw Failure(.badData, "\(file) has no beacon region that can be used") }
        return (regions, reading.keys)
    }

    private static func hasBeacon(_ regions: RegionSet) -> Bool {
        regions.regions.contains { if case .beacon = $0.kind { true } else { false } }
    }

    private static func summary(of replay: Replay, took: Duration) -> String {
        let summary = replay.summary
        let counters = replay.gateway.counters
        let rate = Int64(saturating: Double(summary.reports) / max(took.inSeconds, 1e-6))
        let gaps = summary.gaps == 0 ? "" : ", \(summary.gaps) gaps of more than a day passed over"
        return """
            \(summary.reports) reports (\(summary.malformed.text), \(summary.lost) lost), \
            \(counters.sightings) iBeacons, \(counters.enters) enters, \(counters.leaves) leaves, \
            \(summary.messages) messages; \(decimal(summary.duration)) s recorded\(gaps), \
            played in \(decimal(took)) s (\(rate) reports/s)
            """
    }
}

/// Limits virtual time to a multiple of real time.
private struct Pace {
    let speed: Double?
    private let start = ContinuousClock.now

    init(speed: Double?) { self.speed = speed }

    func wait(until instant: MonotonicInstant) {
        guard let speed else { return }
        // At a very small speed the time would exceed the range: 4e18 ns are 126 years.
        let due = start + .nanoseconds(Int64(saturating: min(Double(instant.nanoseconds) / speed, 4e18)))
        while true {
            let remaining = ContinuousClock.now.duration(to: due).inSeconds
            guard remaining > 0 else { return }
            let whole = Int64(saturating: remaining.rounded(.down))
            let rest = min(999_999_999, Int64(saturating: (remaining - Double(whole)) * 1e9))
            let time = timespec(tv_sec: Int(clamping: whole), tv_nsec: Int(clamping: rest))
            withUnsafePointer(to: time) { _ = nanosleep($0, nil) }
        }
    }
}

/// Collects lines for standard output, so that one write covers many lines.
private struct LineBuffer {
    private var bytes: [UInt8] = []

    mutating func add(_ effect: Gateway.Effect, isVerbose: Bool, _ log: (String) -> Void) {
        if case .publish(let message) = effect {
            bytes += MessageLine.bytes(of: message)
            if bytes.count > 32768 || Terminal.isInteractive { flush() }
        }
        if isVerbose, let entry = effect.logEntry { log(entry.text) }
    }

    mutating func flush() {
        Terminal.print(jsonLines: bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}

extension CaptureError {
    fileprivate var isMissingFile: Bool {
        switch reason {
        case .cannotOpen, .isDirectory, .isNoFile: true
        default: false
        }
    }
}
