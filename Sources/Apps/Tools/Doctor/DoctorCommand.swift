import JSON
import Shell
import System

/// `doctor`: checks everything that the service needs. Each finding is fine or has a remedy.
enum DoctorCommand {
    static let specification = CommandSpecification(
        "doctor", "check everything the service needs and suggest fixes",
        options: [
            OptionSpecification("listen", "SECONDS", "how long to listen for beacons (default 3; 0: not at all)"),
            OptionSpecification(
                "report", "FILE", "measure the running service for ten minutes, and write a report for a maintainer"),
            OptionSpecification("duration", "SECONDS", "with --report: how long to measure (default 600)"),
            OptionSpecification("force", nil, "with --report: replace the file if it exists"),
        ],
        examples: [
            ("sudo ibeacon-gateway doctor", "one line per check; exit code 0 only if all is well"),
            ("sudo ibeacon-gateway doctor --json | jq '.findings[] | select(.ok | not)'", "the problems, for scripts"),
            ("sudo ibeacon-gateway doctor --report report.json", "measurements of this machine, without identities"),
        ])

    static func run(_ arguments: Arguments) throws -> ExitCode {
        if let word = arguments.operands.first { throw Failure(.usage, "doctor takes no '\(word)'") }
        try check(arguments)
        if let path = arguments.value("report") { return try DoctorReport.run(path, arguments) }
        let listening = try arguments.seconds("listen") ?? .seconds(3)
        let findings = try examine(arguments, listening: listening)
        let isWell = findings.allSatisfy(\.isWell)
        if arguments.has("json") {
            let report: JSONValue = ["ok": .bool(isWell), "findings": .array(findings.map(\.json))]
            Terminal.print(json: report.text)
        } else {
            for finding in findings where !(arguments.has("quiet") && finding.isWell) {
                for line in finding.lines { Terminal.print(line) }
            }
            let bad = findings.count { !$0.isWell }
            if !arguments.has("quiet") {
                Terminal.print(isWell ? "all is well" : bad == 1 ? "one problem to fix" : "\(bad) problems to fix")
            }
        }
        return isWell ? .ok : .unavailable
    }

    /// Refuses options that would have no effect.
    static func check(_ arguments: Arguments) throws(Failure) {
        guard !arguments.has("report") else {
            guard !arguments.has("listen") else {
                throw Failure(
                    .usage, "--listen is for the checks, and --report makes none; --duration says how long it measures")
            }
            return
        }
        for option in ["duration", "force"] where arguments.has(option) {
            throw Failure(.usage, "--\(option) goes with --report FILE")
        }
    }

    private static func examine(_ arguments: Arguments, listening: Duration) throws -> [DoctorFinding] {
        let file: Settings
        do throws(Failure) {
            file = try Settings.load(arguments)
        } catch {
            let remedy =
                error.code == .noPermission
                ? "run: sudo ibeacon-gateway doctor" : "fix the file, then run doctor again"
            return [DoctorFinding(.configuration, error.message, remedy: remedy)]
        }
        // The service also uses stored remote settings. If the state cannot be read, the check of the disk says why.
        let settings = (try? Settings.loadInForce(arguments)) ?? file
        var findings = ConfigurationCheck.findings(settings)
        let running = RunningService(of: settings.stateDirectory)
        findings += ServiceCheck.findings(settings) + ServiceCheck.running(settings, running)
        findings += try RadioCheck.findings(settings, listening: listening)
        var hasSite = false
        findings += try BrokerCheck.findings(
            settings, running: running, isServiceRunning: running != nil, hasSite: &hasSite)
        findings += RoomsCheck.findings(settings)
        findings += ProxyCheck.findings(settings)
        findings += ClockCheck.findings()
        findings += RegionsCheck.findings(settings, hasSite: hasSite)
        findings += DiskCheck.findings(settings)
        return findings
    }
}
