import JSON
import System

/// Secrets that systemd provides to the service (`LoadCredential=`). They apply if the configuration has none.
enum Credentials {
    /// For each credential the member that it sets, and the member that takes precedence over it.
    private static let members = [
        (credential: "ibeacon-gateway.password", file: "passwordFile", text: "password"),
        (credential: "ibeacon-gateway.encryptionKey", file: "encryptionKeyFile", text: "encryptionKey"),
    ]

    private static let siteKey = "ibeacon-gateway.rooms.encryptionKey"

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
        addSiteKey(to: &object, from: directory)
        return .object(object)
    }

    /// The key of the site is a member of `rooms`; without that member the default site has the key.
    private static func addSiteKey(to object: inout [String: JSONValue], from directory: String) {
        let path = "\(directory)/\(siteKey)"
        let rooms = object["rooms"] ?? .object([:])
        guard var members = rooms.object, members["encryptionKeyFile"] == nil, members["encryptionKey"] == nil,
            FileAccess.exists(path)
        else { return }
        members["encryptionKeyFile"] = .string(path)
        object["rooms"] = .object(members)
    }
}
