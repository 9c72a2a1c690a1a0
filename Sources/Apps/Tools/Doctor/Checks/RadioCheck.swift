import Base
import Configuration
import GatewayApp
import Glibc
import KernelScanning
import Scanning
import Shell
import Status
import System

/// Rights, adapters, bluetoothd, and reception.
enum RadioCheck {
    static func findings(_ settings: Settings, listening: Duration) throws -> [DoctorFinding] {
        if case .capture(let file, _) = settings.configuration.scanner {
            let path = FileAccess.resolve(file, beside: settings.path)
            guard access(path, R_OK) == 0 else {
                return [
                    DoctorFinding(
                        .radio, "the recording \(path) cannot be read: \(FileAccess.lastError)",
                        remedy: "name another one in \"scanner\", or remove that member to use Bluetooth")
                ]
            }
            return [DoctorFinding(.radio, "the recording \(path) replaces the radio")]
        }
        var findings = RadioDiagnosis.findings(settings.configuration.adapterSelection)
            .map { DoctorFinding(.radio, $0.text, remedy: $0.remedy) }
        findings += antennas(RadioDiagnosis.adapters(settings.configuration.adapterSelection), settings.configuration)
        findings += bluetoothd(settings.configuration.scanner)
        if settings.configuration.scanner == .bluez, settings.configuration.scanDuty != nil {
            findings.append(
                DoctorFinding(
                    .radio, "scanner \"bluez\" cannot set scanDuty: bluetoothd decides how long the radio listens",
                    remedy: noDutyRemedy))
        }
        // Without an adapter or the right to use it the gateway cannot listen. A finding reports this already.
        if listening > .zero, findings.allSatisfy(\.isWell) { findings += try heard(settings, listening) }
        return findings
    }

    private static func heard(_ settings: Settings, _ duration: Duration) throws -> [DoctorFinding] {
        let listener = try BeaconListener.listen(settings, for: duration)
        let refusals = refusals(listener.adapters)
        guard listener.hasListened else {
            guard refusals.isEmpty else { return refusals }
            if let problem = listener.problem { return [DoctorFinding(.radio, problem.text, remedy: problem.remedy)] }
            let reason = listener.problems.first ?? "nothing listened within \(decimal(duration)) s"
            return [DoctorFinding(.radio, reason, remedy: "journalctl -k | grep -i bluetooth shows more")]
        }
        var findings =
            refusals
            + listener.adapters.filter(\.isListening).map { adapter -> DoctorFinding in
                let wanted = settings.configuration.scanDuty
                guard let share = adapter.duty else {
                    let text = "how much of the time \(adapter.name) listens is not known"
                    // With "bluez" in the configuration, there is a finding already.
                    guard wanted != nil, settings.configuration.scanner != .bluez else {
                        return DoctorFinding(.radio, text)
                    }
                    return DoctorFinding(.radio, "\(text): scanDuty has no effect", remedy: noDutyRemedy)
                }
                let text = "\(adapter.name) listens \(Int64(saturating: share * 100)) % of the time"
                return DoctorFinding(.radio, wanted == nil ? text : text + ", as scanDuty says")
            }
        let text =
            "heard \(counted(listener.reports, "report")) and \(counted(listener.heard.count, "iBeacon")) in \(decimal(duration)) s"
        findings.append(DoctorFinding(.radio, text))
        return findings
    }

    /// A finding for each adapter whose controller does not scan although it is asked to.
    static func refusals(_ adapters: [AdapterStatus]) -> [DoctorFinding] {
        adapters.compactMap { adapter in
            adapter.trouble.map {
                DoctorFinding(.radio, "\(adapter.name) does not listen: \($0)", remedy: LiveFindings.troubleRemedy)
            }
        }
    }

    /// A finding for each adapter that shares its antenna with a Wi-Fi interface that is up.
    ///
    /// The finding is fine at any share, because nobody has measured yet how much Wi-Fi loses.
    ///
    /// - Parameter sysfs: Where sysfs is mounted.
    static func antennas(
        _ adapters: [UInt16], _ configuration: Configuration, sysfs: String = "/sys"
    ) -> [DoctorFinding] {
        let antenna = SharedAntenna(sysfs: sysfs)
        return adapters.compactMap { index in
            guard let wiFi = antenna.wiFi(beside: index) else { return nil }
            let text = "hci\(index) and \(wiFi) have one antenna, and \(wiFi) is up"
            guard configuration.duty.share > mostSharedDuty else {
                return DoctorFinding(.radio, "\(text); scanDuty leaves it part of the time")
            }
            return DoctorFinding(
                .radio, "\(text): Wi-Fi waits while the gateway listens",
                advice:
                    "if Wi-Fi is slow or fails, set scanDuty to 0.5 or less (leaves come later), or use a USB adapter (\"adapter\")"
            )
        }
    }

    /// The largest `scanDuty` without advice where Wi-Fi shares the antenna. The kernel's scans for monitors use it.
    private static let mostSharedDuty = 0.5

    private static let noDutyRemedy = "use scanner \"mgmt\" or \"hci\", or set scanDuty to \"auto\""

    private static func bluetoothd(_ scanner: ScannerChoice) -> [DoctorFinding] {
        // A container does not see the host's processes, but perhaps its bus.
        switch (scanner, OtherProgram.runs("bluetoothd") || BusNames.isOwned("org.bluez")) {
        case (.bluez, false):
            [
                DoctorFinding(
                    .bluetoothd, "bluetoothd does not run, and scanner \"bluez\" hears only through it",
                    remedy: "sudo systemctl enable --now bluetooth, or scanner \"auto\"")
            ]
        case (.hci, true):
            [
                DoctorFinding(
                    .bluetoothd, "bluetoothd runs, and scanner \"hci\" needs the adapter for itself",
                    remedy: "scanner \"auto\", which shares; or: sudo systemctl disable --now bluetooth")
            ]
        case (_, true): [DoctorFinding(.bluetoothd, "bluetoothd runs, too")]
        case (_, false): [DoctorFinding(.bluetoothd, "bluetoothd does not run, and is not needed")]
        }
    }
}
