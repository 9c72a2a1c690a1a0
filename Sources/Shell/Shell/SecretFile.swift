import Base
package import Configuration
import Glibc
import System

/// Files that hold a secret.
package enum SecretFile {
    /// Reads the files that a configuration names. Each is read once, so that all trackers have the same key of it.
    ///
    /// - Parameter path: The configuration file. Relative paths count from it; nil: from the working directory.
    package static func files(beside path: String?) -> ConfigurationFiles {
        var known: [String: Result<Secret, ConfigurationFiles.Problem>] = [:]
        let resolved = { (file: String) in FileAccess.resolve(file, beside: path) }
        return ConfigurationFiles(resolved: resolved, exposure: exposure(of:)) {
            file throws(ConfigurationFiles.Problem) in
            let place = resolved(file)
            let result = known[place] ?? Result { () throws(ConfigurationFiles.Problem) in try secret(in: place) }
            known[place] = result
            return try result.get()
        }
    }

    /// The first line of a file that only its owner and group may read.
    private static func secret(in path: String) throws(ConfigurationFiles.Problem) -> Secret {
        let bytes: [UInt8]
        do throws(Failure) { bytes = try FileAccess.read(path) } catch {
            throw ConfigurationFiles.Problem(error.message)
        }
        if let exposure = exposure(of: path) { throw exposure }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw ConfigurationFiles.Problem("the first line of \(path) is empty or not UTF-8")
        }
        return Secret(text)
    }

    /// nil: not all users can read the file, or there is none.
    private static func exposure(of path: String) -> ConfigurationFiles.Problem? {
        guard FileAccess.isWorldReadable(path) else { return nil }
        return ConfigurationFiles.Problem("all users can read \(path); run: \(hiding(path))")
    }

    /// The commands after which only root and the service can read a file. A change of the mode alone would take the file
    /// away from the service too if the group is that of root.
    ///
    /// - Parameter group: The group of the service, which the package makes. Without it the service is any user, and is
    ///   taken for the one that reads the file now.
    package static func hiding(_ path: String, from group: String = "ibeacon-gateway") -> String {
        guard getgrnam(group) == nil else { return "sudo chown root:\(group) \(path) && sudo chmod 640 \(path)" }
        let user = geteuid()
        var status = stat()
        let isOwn = user == 0 || (stat(path, &status) == 0 && status.st_uid == user)
        return isOwn ? "chmod 600 \(path)" : "sudo chown \(user) \(path) && sudo chmod 600 \(path)"
    }
}
