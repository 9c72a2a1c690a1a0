import RoomsApp
import ServiceDiscovery
import Shell

/// Whether the service runs, where systemd has it, and what the running services say.
enum ServiceCheck {
    /// What systemd says, where it has the service.
    static func findings(_ settings: Settings) -> [DoctorFinding] {
        let service = SystemService.gateway
        guard service.isInstalled, settings.stateDirectory == Settings.defaultStateDirectory else { return [] }
        let answers = {
            (try? StatusClient(stateDirectory: settings.stateDirectory, within: .seconds(1)).ask("/status.json")) != nil
                || service.isActive
        }
        return [finding(service.unit, service.state(), answers: answers)]
    }

    /// What systemd's answer means.
    ///
    /// - Parameter answers: Whether the service answers by itself. It is asked only if systemd does not say.
    static func finding(
        _ unit: String, _ state: UnitQuestion.Answer, answers: () -> Bool
    ) -> DoctorFinding {
        switch state {
        case .state(let state) where SystemService.isRunning(state): DoctorFinding(.service, "\(unit) runs")
        case .state(let state):
            DoctorFinding(
                .service, "\(unit) does not run; systemd says: \(state)",
                remedy: "sudo systemctl enable --now ibeacon-gateway; why it ended: journalctl -u ibeacon-gateway -n 20"
            )
        case .unknown where answers(): DoctorFinding(.service, "\(unit) runs")
        case .unknown(let reason):
            DoctorFinding(
                .service, "whether \(unit) runs is not known: \(reason)",
                advice: "see: systemctl status ibeacon-gateway")
        }
    }

    /// What the running services say: a test beside them may succeed where they fail.
    static func running(_ settings: Settings, _ gateway: RunningService?) -> [DoctorFinding] {
        var findings = gateway?.findings(of: "the service") ?? []
        if settings.stateDirectory == Settings.defaultStateDirectory,
            let rooms = RunningService(of: RoomServiceProcess.defaultStateDirectory)
        {
            findings += rooms.findings(of: "the rooms service")
        }
        return findings
    }
}
