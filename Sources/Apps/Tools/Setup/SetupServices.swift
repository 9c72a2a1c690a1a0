import RoomsApp
import System

/// The services that `setup` starts at its end.
struct SetupServices {
    let stateDirectory: String
    let dialogue: Dialogue

    /// Starts the gateway's service, or restarts it with the answers, and waits until it answers.
    ///
    /// - Returns: Whether it runs with the answers. It does not where no service manager has it, or this user may not start it.
    func startGateway() throws -> Bool {
        let service = SystemService.gateway
        guard service.isInstalled else { return false }
        guard service.mayBeControlled else {
            dialogue.show("To start the service: sudo systemctl restart ibeacon-gateway")
            return false
        }
        guard service.control("enable", "--quiet"), service.control("restart") else {
            throw Failure(
                .temporaryFailure,
                "the files are written, but the service does not start; why: journalctl -u ibeacon-gateway -n 20")
        }
        try StartedService(service: service, stateDirectory: stateDirectory).check()
        dialogue.show("The service runs.")
        return true
    }

    /// Why the rooms service cannot be started.
    ///
    /// - Parameter isForService: Whether these are the files that the services use.
    static func noRooms(isForService: Bool) -> Failure {
        let reason =
            isForService
            ? "which this machine does not have"
            : "with the files in /etc and /var/lib; leave out --config and --state-dir"
        return Failure(.usage, "--rooms-service starts \(SystemService.rooms.unit), \(reason)")
    }

    /// Starts or stops the rooms service according to the answer.
    func switchRoomsService(on isWanted: Bool) throws {
        let service = SystemService.rooms
        guard isWanted || service.isRunning else { return }
        let verb = isWanted ? "enable" : "disable"
        let name = service.unit.split(separator: ".")[0]
        guard service.mayBeControlled else {
            return dialogue.show("For the rooms service: sudo systemctl \(verb) --now \(name)")
        }
        guard service.control(verb, "--quiet", "--now"), !isWanted || service.control("restart") else {
            throw Failure(
                .temporaryFailure,
                "the files are written, but systemctl \(verb) failed; why: journalctl -u \(name) -n 20")
        }
        guard isWanted else { return dialogue.show("The rooms service is stopped.") }
        try StartedService(service: service, stateDirectory: RoomServiceProcess.defaultStateDirectory).check()
        dialogue.show("The rooms service runs.")
    }
}
