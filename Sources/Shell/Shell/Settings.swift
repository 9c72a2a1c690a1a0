import Base
package import Configuration
import Glibc
package import JSON
package import System

/// The configuration in force, its file, and the secrets that it names.
package struct Settings {
    package static let defaultPath = "/etc/ibeacon-gateway/config.json"
    package static let defaultStateDirectory = "/var/lib/ibeacon-gateway"

    package var configuration: Configuration
    /// The configuration of the file alone, with the secrets of the files that it names.
    package let fileConfiguration: Configuration
    /// The members of the file, unchanged.
    package let json: JSONValue
    /// The settings in `configuration` that kept settings of `setConfiguration` replaced, by their names.
    package var remoteMembers: [String] = []
    /// nil: no file; the defaults are in force.
    package let path: String?
    /// Where a reload looks for a file if there was none.
    private let soughtPath: String
    package let stateDirectory: String

    /// Which settings come from `setConfiguration`, for the user; nil: none.
    package var remoteMembersText: String? {
        guard !remoteMembers.isEmpty else { return nil }
        return "from setConfiguration, not from the file: \(remoteMembers.joined(separator: ", "))"
    }

    package init(configuration: Configuration, json: JSONValue, path: String, stateDirectory: String) {
        self.configuration = configuration
        fileConfiguration = configuration
        self.json = json
        self.path = path
        soughtPath = path
        self.stateDirectory = stateDirectory
    }

    /// Reads one file and the secrets that it names.
    package init(readingFrom path: String, stateDirectory: String) throws(Failure) {
        let bytes = try FileAccess.read(path)
        json = Credentials.adding(to: try Self.json(bytes, of: path))
        let repetitions = Configuration.repetitions(in: bytes)
        configuration = try Self.read(json, path, besides: repetitions)
        configuration.warn(of: repetitions)
        fileConfiguration = configuration
        self.path = path
        soughtPath = path
        self.stateDirectory = stateDirectory
    }

    /// The defaults, with the secrets that systemd provides.
    ///
    /// - Parameters:
    ///   - path: Where a reload looks for a file.
    ///   - credentials: The directory of systemd's credentials; nil: there are none.
    package init(
        withoutFileAt path: String, stateDirectory: String,
        credentials: String? = Settings.environment("CREDENTIALS_DIRECTORY")
    ) throws(Failure) {
        // No user name has a password in the defaults.
        var members = Credentials.adding(to: ["_type": "configuration"], from: credentials).object ?? [:]
        members["passwordFile"] = nil
        json = .object(members)
        configuration = try Self.read(json, nil)
        fileConfiguration = configuration
        self.path = nil
        soughtPath = path
        self.stateDirectory = stateDirectory
    }

    /// Reads a file that need not exist; without it the defaults apply.
    ///
    /// - Throws: Also if the file cannot be seen, as in a directory that this process may not search.
    package init(lookingAt path: String, stateDirectory: String) throws(Failure) {
        self =
            FileAccess.isMissing(path)
            ? try Settings(withoutFileAt: path, stateDirectory: stateDirectory)
            : try Settings(readingFrom: path, stateDirectory: stateDirectory)
    }

    /// Reads the settings again, for a reload. A file that was read must still exist.
    func readAgain() throws(Failure) -> Settings {
        guard let path else { return try Settings(lookingAt: soughtPath, stateDirectory: stateDirectory) }
        return try Settings(readingFrom: path, stateDirectory: stateDirectory)
    }

    private static func json(_ bytes: [UInt8], of path: String) throws(Failure) -> JSONValue {
        try mapError({
            Failure(.configuration, "\(path) cannot be used:\n  \(Configuration.reason($0, in: bytes))")
        }) { () throws(JSONError) in
            try JSONValue(parsing: bytes, dialect: .json5)
        }
    }

    /// Checks one file's content, and reads the secrets that it names.
    ///
    /// - Parameters:
    ///   - path: nil: no file, the content is that of the defaults.
    ///   - repetitions: What to tell beside the mistakes.
    private static func read(
        _ json: JSONValue, _ path: String?, besides repetitions: [ConfigurationProblem] = []
    ) throws(Failure) -> Configuration {
        let configuration: Configuration
        do throws(ConfigurationError) {
            configuration = try Configuration(json, hostName: hostName, files: SecretFile.files(beside: path))
        } catch {
            let lines = (error.problems + repetitions).map { "  \($0)" }.joined(separator: "\n")
            let source = path ?? "the default configuration with systemd's credentials"
            throw Failure(.configuration, "\(source) cannot be used:\n\(lines)")
        }
        if let path, configuration.holdsSecret, FileAccess.isWorldReadable(path) {
            throw Failure(
                .configuration,
                "\(path) holds a secret and all users can read it; run: \(SecretFile.hiding(path))")
        }
        return configuration
    }

    package static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        let name = buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        return name.isEmpty ? "localhost" : name
    }

    package static func environment(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
