import Base
import Configuration
import OwnTracks
import Shell
import System

extension Setup {
    /// Writes all answers.
    func write() throws {
        let before = (try? Settings.load(arguments))?.configuration.trackers[0].topics.base
        let directory = SetupFiles.directory(of: path)
        if directory == SetupFiles.directory(of: Settings.defaultPath),
            let problem = SetupFiles.share(directory, with: "ibeacon-gateway")
        {
            dialogue.show(problem)
        }
        let files: [(path: String, bytes: [UInt8]?)] = [
            (authorityPath, authority), (passwordPath, password.map { Array("\($0.revealed)\n".utf8) }),
            (path, Array(SetupFiles.configuration(members).utf8)),
        ]
        // All are kept before the first is replaced, so that nothing is lost on a full disk.
        for file in files where file.bytes != nil && FileAccess.exists(file.path) {
            dialogue.show("Kept the old \(file.path) as \(try SetupFiles.keep(file.path)).")
        }
        for case let (path, bytes?) in files { try SetupFiles.write(bytes, to: path) }
        // The file is read in the same way as by the service.
        let settings = try Settings(readingFrom: path, stateDirectory: stateDirectory)
        dialogue.show("Wrote \(path).")
        try regions.store(
            first: region, addresses: origin?.addresses ?? [], of: settings.configuration.trackers[0].topics.base,
            before: before)
    }

    /// Starts the service, or restarts it with the answers.
    func startService() throws {
        let service = SystemService.gateway
        guard isForService, service.isInstalled else { return }
        guard service.mayBeControlled else {
            return dialogue.show("To start the service: sudo systemctl restart ibeacon-gateway")
        }
        guard service.control("enable", "--quiet"), service.control("restart") else {
            throw Failure(.unavailable, "the service does not start; why: journalctl -u ibeacon-gateway -n 20")
        }
        dialogue.show("The service runs.")
    }

    func conclude() {
        let base = (try? settings().configuration.trackers[0].topics.base) ?? ""
        if let origin, !origin.tags.isEmpty, runsRoomsService != true {
            // A second `setup` would refuse to replace the file that this one has written.
            Terminal.print(
                "One rooms service decides on the tags. To run it on this machine: "
                    + "sudo systemctl enable --now ibeacon-gateway-rooms")
        }
        Terminal.print("Who comes and goes is published on \(base)/event.")
        Terminal.print("See it:      mosquitto_sub -h \(host) -p \(port) -v -t '\(base)/#'")
        Terminal.print("Who is near: sudo ibeacon-gateway scan")
        Terminal.print("If it fails: sudo ibeacon-gateway doctor")
    }
}
