import ServiceDiscovery
import Shell

extension DoctorChecks {
    /// Whether the service runs, where systemd has it.
    static func service(_ settings: Settings) -> [DoctorFinding] {
        let service = SystemService.gateway
        guard service.isInstalled, settings.stateDirectory == Settings.defaultStateDirectory else { return [] }
        let finding = self.service(service.unit, service.state()) {
            (try? StatusClient(stateDirectory: settings.stateDirectory, within: .seconds(1)).ask("/status.json")) != nil
                || service.isActive
        }
        return [finding]
    }

    /// What systemd's answer means.
    ///
    /// - Parameter answers: Whether the service answers by itself. It is asked only if systemd does not say.
    static func service(
        _ unit: String, _ state: UnitQuestion.Answer, answers: () -> Bool
    ) -> DoctorFinding {
        switch state {
        case .state(let state) where SystemService.isRunning(state): DoctorFinding(.service, "\(unit) runs")
        case .state(let state):
            DoctorFinding(
                .service, "\(unit) does not run; systemd says: \(state)",
                cure: "sudo systemctl enable --now ibeacon-gateway; why it ended: journalctl -u ibeacon-gateway -n 20")
        case .unknown where answers(): DoctorFinding(.service, "\(unit) runs")
        case .unknown(let reason):
            DoctorFinding(
                .service, "whether \(unit) runs is not known: \(reason)",
                advice: "see: systemctl status ibeacon-gateway")
        }
    }
}
