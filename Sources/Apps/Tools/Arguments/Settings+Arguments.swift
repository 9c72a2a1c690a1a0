import Base
import Configuration
import Gateway
import GatewayApp
import JSON
import Runtime
import Shell
import Storage
import System

extension Settings {
    /// Reads the configuration from `--config`, `$IBEACON_GATEWAY_CONFIG`, or the file in /etc. A named file must
    /// exist; the file in /etc is optional. The settings of a running service may differ: see `loadInForce`.
    ///
    /// - Parameters:
    ///   - directory: The state directory if neither the command line nor the environment sets one.
    ///   - isOptional: Whether the defaults also apply for a user who may not look for the file in /etc. Only for commands whose
    ///     answer is right without it.
    ///   - path: The file in /etc.
    static func load(
        _ arguments: Arguments, stateDirectory directory: String = defaultStateDirectory, isOptional: Bool = false,
        at path: String = defaultPath
    ) throws(Failure) -> Settings {
        let named = arguments.value("config") ?? environment("IBEACON_GATEWAY_CONFIG")
        let stateDirectory = arguments.value("state-dir") ?? environment("STATE_DIRECTORY") ?? directory
        if let named { return try Settings(readingFrom: named, stateDirectory: stateDirectory) }
        guard !FileAccess.exists(path), !FileAccess.isMissing(path) else {
            return try Settings(lookingAt: path, stateDirectory: stateDirectory)
        }
        guard isOptional else {
            throw Failure(
                .noPermission,
                "this user may not look for \(path) (\(FileAccess.lastError)), and without it the answer could be wrong; "
                    + "run it with sudo, or name a file with --config")
        }
        // It is said once.
        _ = unreadFileNotice
        return try Settings(withoutFileAt: path, stateDirectory: stateDirectory)
    }

    /// Prints that the file in /etc is out of reach, when it is first used.
    private static let unreadFileNotice: Void = Terminal.printError(
        "ibeacon-gateway: this user may not look for \(defaultPath), so the defaults apply; with sudo, the file is read"
    )

    /// The settings in force in a running service: those of the file, overridden by kept remote settings.
    static func loadInForce(_ arguments: Arguments) throws(Failure) -> Settings {
        var settings = try load(arguments)
        let kept = try StoreReader.read(settings.stateDirectory) { try $0.value(of: Gateway.remoteSettingsKey) }
        // The service logs what does not apply, and forgets it.
        _ = settings.restore((kept ?? nil).flatMap { try? JSONValue(parsing: $0) }, Log(threshold: .error))
        return settings
    }

    /// - Parameter name: The `tid` or device of a tracker; nil for the first tracker.
    /// - Returns: The tracker's index. A device goes before the `tid` of another tracker.
    /// - Throws: `Failure` if no tracker has this name, or several have it: what is meant for one must not change another.
    func tracker(_ name: String?) throws(Failure) -> Int {
        guard let name else { return 0 }
        let trackers = configuration.trackers
        let ofDevice = trackers.indices.filter { trackers[$0].deviceID == name }
        let named = ofDevice.count == 1 ? ofDevice : trackers.indices.filter { trackers[$0].trackerID == name }
        if named.count == 1 { return named[0] }
        guard named.isEmpty else {
            let devices = named.map { trackers[$0].deviceID }.joined(separator: ", ")
            throw Failure(.usage, "\(named.count) trackers have the tid '\(name)'; name one by its device: \(devices)")
        }
        if let first = ofDevice.first { return first }
        let known = trackers.map { tracker in
            trackers.count { $0.trackerID == tracker.trackerID } == 1 ? tracker.trackerID : tracker.deviceID
        }
        throw Failure(.usage, "unknown tracker '\(name)'; the trackers are: \(known.joined(separator: ", "))")
    }
}
