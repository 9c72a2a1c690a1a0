import Base
import Configuration
import OwnTracks
import Shell
import System

extension Setup {
    private var files: [(path: String, bytes: [UInt8]?)] {
        [
            (authorityPath, authority), (passwordPath, password.map { Array("\($0.revealed)\n".utf8) }),
            (path, Array(SetupFiles.configuration(members).utf8)),
        ]
    }

    /// Writes all answers.
    ///
    /// - Returns: Whether anything was written: with `--config-only` files that are as wanted stay as they are.
    func write() throws -> Bool {
        let before = (try? Settings.load(arguments))?.configuration.trackers[0].topics.base
        let directory = SetupFiles.directory(of: path)
        let files = files
        if arguments.has("config-only") {
            // Bytes that cannot be read differ.
            guard files.contains(where: { $0.bytes != nil && (try? FileAccess.read($0.path)) != $0.bytes }) else {
                return false
            }
            guard !FileAccess.exists(path) || arguments.has("force") else {
                throw Failure(
                    .cannotCreate,
                    "\(path) is another configuration, and stays as it is; --force replaces it and keeps the old one as .old"
                )
            }
        }
        if directory == SetupFiles.directory(of: Settings.defaultPath),
            let problem = SetupFiles.share(directory, with: "ibeacon-gateway")
        {
            dialogue.show(problem)
        }
        // All are kept before the first is replaced, so that nothing is lost on a full disk.
        for file in files where file.bytes != nil && FileAccess.exists(file.path) {
            dialogue.show("Kept the old \(file.path) as \(try SetupFiles.keep(file.path)).")
        }
        try proxy?.writeKey(dialogue, owner: isForService ? ServiceUser()?.user : nil)
        for case let (path, bytes?) in files { try SetupFiles.write(bytes, to: path) }
        // The file is read in the same way as by the service.
        let settings = try Settings(readingFrom: path, stateDirectory: stateDirectory)
        dialogue.show("Wrote \(path).")
        guard !arguments.has("config-only") else { return true }
        try storeRegions(of: settings.configuration.trackers, before: before)
        return true
    }

    /// - Parameter before: The base topic of the configuration that was replaced.
    private func storeRegions(of trackers: [TrackerConfiguration], before: String?) throws {
        let own = beacons.filter { !$0.isPersons }.map(\.description)
        try regions.store(
            own, addresses: origin?.addresses ?? [], imported: origin?.regions ?? [], of: trackers[0].topics.base,
            before: before)
        for (beacon, tracker) in zip(persons, trackers.dropFirst()) {
            try regions.add(try SetupRegions.region(beacon.description), of: tracker.topics.base)
            dialogue.show("Made the tracker \(beacon.name), on \(tracker.topics.base).")
        }
    }
}
