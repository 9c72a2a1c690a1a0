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
    ///   - isService: Whether the defaults apply only if there is certainly no file in /etc. They also apply to a command
    ///     of a user who may not look there.
    static func load(
        _ arguments: Arguments, stateDirectory directory: String = defaultStateDirectory, isService: Bool = false
    ) throws(Failure) -> Settings {
        let named = arguments.value("config") ?? environment("IBEACON_GATEWAY_CONFIG")
        let stateDirectory = arguments.value("state-dir") ?? environment("STATE_DIRECTORY") ?? directory
        if let named { return try Settings(readingFrom: named, stateDirectory: stateDirectory) }
        guard isService || FileAccess.exists(defaultPath) else {
            // Without this, a command only says that there is no broker. It is said once.
            if !FileAccess.isMissing(defaultPath) { _ = unreadFileNotice }
            return try Settings(withoutFileAt: defaultPath, stateDirectory: stateDirectory)
        }
        return try Settings(lookingAt: defaultPath, stateDirectory: stateDirectory)
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
    /// - Returns: The tracker's position.
    func tracker(_ name: String?) throws(Failure) -> Int {
        guard let name else { return 0 }
        let trackers = configuration.trackers
        guard let position = trackers.firstIndex(where: { $0.trackerID == name || $0.deviceID == name }) else {
            let known = trackers.map(\.trackerID).joined(separator: ", ")
            throw Failure(.usage, "unknown tracker '\(name)'; the trackers are: \(known)")
        }
        return position
    }
}
