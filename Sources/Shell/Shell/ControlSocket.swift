package import Glibc
package import System

/// The socket at which the commands of this machine ask a running service.
package enum ControlSocket {
    private static let fileName = "control.sock"
    private static let stateRoot = "/var/lib/"
    private static let runtimeRoot = "/run/"

    /// Where a service listens: in the directory that systemd provides (`RuntimeDirectory=`), otherwise in the state
    /// directory.
    package static func served(for stateDirectory: String) -> LocalSocket {
        LocalSocket("\(Settings.environment("RUNTIME_DIRECTORY") ?? stateDirectory)/\(fileName)")
    }

    /// Where a command looks for the service of a state directory, in turn. systemd names the runtime directory of a
    /// service as its state directory; a command that is started with another one looks there first, as the service would.
    package static func candidates(for stateDirectory: String) -> [LocalSocket] {
        var directories = [stateDirectory]
        if stateDirectory.hasPrefix(stateRoot) {
            directories.insert(runtimeRoot + stateDirectory.dropFirst(stateRoot.count), at: 0)
        }
        if let directory = Settings.environment("RUNTIME_DIRECTORY") { directories.insert(directory, at: 0) }
        return directories.map { LocalSocket("\($0)/\(fileName)") }
    }

    /// Whether systemd runs the service with this state directory: it removes the runtime directory with the service.
    package static func isServed(for stateDirectory: String) -> Bool {
        stateDirectory.hasPrefix(stateRoot)
            && access("\(runtimeRoot)\(stateDirectory.dropFirst(stateRoot.count))/\(fileName)", F_OK) == 0
    }

    /// Whether the process that listens may be the service: root, or the owner of the state directory.
    ///
    /// - Parameters:
    ///   - peer: The user who listens.
    ///   - owner: The owner of the state directory; nil: it is not known.
    package static func isTrusted(_ peer: uid_t, owner: uid_t?) -> Bool { peer == 0 || peer == owner }

    /// The owner of a directory.
    package static func owner(of directory: String) -> uid_t? {
        var status = stat()
        return stat(directory, &status) == 0 ? status.st_uid : nil
    }
}
