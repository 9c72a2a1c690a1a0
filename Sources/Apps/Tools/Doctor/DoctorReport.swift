import Base
import Glibc
import JSON
import Shell
import Status
import System

/// `doctor --report FILE`: collects figures for a maintainer from the status of the running service, for some minutes.
///
/// The service is not disturbed: only its status is requested, and the controller gets two harmless queries.
enum DoctorReport {
    /// How long to measure.
    static let standardDuration = Duration.seconds(600)
    /// Time between two requests. Each status costs the service a few milliseconds of processor time, which the figures
    /// include.
    private static let pause = Duration.seconds(5)

    static func run(_ path: String, _ arguments: Arguments) throws -> ExitCode {
        let duration = try arguments.seconds("duration") ?? standardDuration
        try checkPlace(path, replaces: arguments.has("force"))
        let settings = try (try? Settings.loadInForce(arguments)) ?? Settings.load(arguments)
        let isShown = !arguments.has("quiet") && isatty(STDERR_FILENO) == 1
        let machine = MachineFacts.machine()
        let measurement = measure(settings, duration, isShown: isShown)
        let report = MachineReport.section([
            ("report", .known(1)), ("program", .text(Program.version, otherwise: "the version is empty")),
            ("machine", machine), ("bluetooth", MachineFacts.bluetooth(settings)), ("service", measurement.report),
        ])
        try checkPlace(path, replaces: arguments.has("force"))
        try mapError({ Failure($0) }) { () throws(FileError) in
            try AtomicFile.replace(path, by: Array(report.text.utf8), AtomicFile.Attributes(mode: 0o644))
        }
        guard measurement.hasAnswer else {
            throw Failure(
                .unavailable,
                "no service answered, so nothing was measured: \(path) has only the facts of this machine. If the service runs, use sudo; "
                    + "if it does not: sudo systemctl start ibeacon-gateway")
        }
        if !arguments.has("quiet") {
            Terminal.print(
                """
                \(path) was written. It contains no identities, addresses or secrets; review it.
                To send it: open an issue of the project with this file and a row for Docs/boards.md
                """)
        }
        return .ok
    }

    /// Checks that the file can be written, so that ten minutes of measuring are not lost at the end.
    private static func checkPlace(_ path: String, replaces: Bool) throws(Failure) {
        var status = stat()
        if lstat(path, &status) == 0 {
            guard replaces else {
                throw Failure(.cannotCreate, "\(path) exists; name another file, or replace it with --force")
            }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw Failure(.cannotCreate, "\(path) is not a regular file; name another one")
            }
        }
        let directory = AtomicFile.directory(of: path)
        guard access(directory, W_OK | X_OK) == 0 else {
            throw Failure(.cannotCreate, "cannot create a file in \(directory): \(FileAccess.lastError)")
        }
    }

    private static func measure(_ settings: Settings, _ duration: Duration, isShown: Bool) -> ServiceMeasurement {
        let begin = Clocks.now()
        let end = begin.advanced(by: duration)
        var measurement = ServiceMeasurement(at: begin)
        while true {
            let status = try? StatusClient(stateDirectory: settings.stateDirectory).status()
            let now = Clocks.now()
            measurement.add(status, at: now)
            if isShown { show(measurement, begin.duration(to: now), of: duration) }
            // If no service answers the first request, the measurement ends.
            guard now < end, measurement.hasAnswer else { break }
            sleep(for: min(pause, now.duration(to: end)))
        }
        if isShown { Terminal.showProgress("", onError: true) }
        return measurement
    }

    private static func show(_ measurement: ServiceMeasurement, _ passed: Duration, of duration: Duration) {
        let left = max(0, Int64(saturating: (duration - passed).inSeconds))
        let rate = measurement.reportsPerSecond.map { ", \(Int64(saturating: $0)) reports/s" } ?? ""
        Terminal.showProgress("measuring: \(left / 60) min \(left % 60) s left\(rate)", onError: true)
    }

    private static func sleep(for duration: Duration) {
        usleep(UInt32(clamping: Int64(saturating: duration.inSeconds * 1_000_000)))
    }
}
