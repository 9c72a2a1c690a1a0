import JSON
import OwnTracks
import System

/// Secrets that systemd hands to the service (`LoadCredential=`), where the configuration names none.
enum Credentials {
    /// Which credential stands in for which member, and the member that it yields to.
    private static let members = [
        (credential: "ibeacon-gateway.password", file: "passwordFile", text: "password"),
        (credential: "ibeacon-gateway.encryptionKey", file: "encryptionKeyFile", text: "encryptionKey"),
    ]

    /// The configuration with a path to each credential that is there; what the file says itself wins.
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
