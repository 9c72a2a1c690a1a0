import JSON
import OwnTracks
import System

/// Secrets that systemd provides to the service (`LoadCredential=`). They apply if the configuration has none.
enum Credentials {
    /// For each credential the member that it sets, and the member that takes precedence over it.
    private static let members = [
        (credential: "ibeacon-gateway.password", file: "passwordFile", text: "password"),
        (credential: "ibeacon-gateway.encryptionKey", file: "encryptionKeyFile", text: "encryptionKey"),
    ]

    /// The configuration with a path to each existing credential. Members of the file take precedence.
    static func adding(to json: JSONValue, from directory: String? = Settings.environment("CREDENTIALS_DIRECTORY"))
        -> JSONValue
    {
        guard let directory, var object = json.object else { return json }
        for (credential, file, text) in members {
            let path = "\(directory)/\(credential)"
            guard object[file] == nil, object[text] == nil, FileAccess.exists(path) else { continue }
            object[file] = .string(path)
        }
        return .object(object)
    }
}
