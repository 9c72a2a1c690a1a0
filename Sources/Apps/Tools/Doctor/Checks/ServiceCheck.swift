import RoomsApp
import ServiceDiscovery
import Shell
import System

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
        let findings = gateway?.findings(of: "the service") ?? []
        guard settings.stateDirectory == Settings.defaultStateDirectory else { return findings }
        let directory = RoomServiceProcess.defaultStateDirectory
        let rooms = RunningService(of: directory)?.findings(of: "the rooms service")
        return findings + (gateway == nil ? silence(of: .gateway, settings.stateDirectory) : [])
            + (rooms ?? silence(of: .rooms, directory))
    }

    /// What is found where systemd says that a service runs, and the service does not answer.
    private static func silence(of service: SystemService, _ directory: String) -> [DoctorFinding] {
        guard service.isInstalled, case .state(let state) = service.state(), SystemService.isRunning(state) else {
            return []
        }
        do throws(Failure) {
            _ = try StatusClient(stateDirectory: directory).ask("/status.json")
            return []
        } catch {
            return [silence(service.unit, error)].compactMap(\.self)
        }
    }

    /// - Parameter failure: Why there is no answer.
    /// - Returns: nil if this user may not ask: then nothing is known.
    static func silence(_ unit: String, _ failure: Failure) -> DoctorFinding? {
        guard failure.code != .noPermission else { return nil }
        let name = unit.split(separator: ".")[0]
        return DoctorFinding(
            .service, "systemd says that \(unit) runs, and it does not answer: \(failure.message)",
            remedy: "see: journalctl -u \(name) -n 20; to start it again: sudo systemctl restart \(name)")
    }
}
