import Glibc
import JSON
import Messaging
import Shell
import System

/// The files that the settings name.
enum ServiceFiles {
    private static let members = [
        "passwordFile", "encryptionKeyFile", "caFile", "clientCertificateFile", "clientKeyFile", "keyFile",
    ]

    /// What is wrong with the files: with their form, and for root those that the service cannot read.
    ///
    /// - Parameter user: The service's user; nil: this is the service's user, or the service is another program's.
    static func problems(_ settings: Settings, for user: ServiceUser?) -> [(text: String, remedy: String)] {
        var problems: [(text: String, remedy: String)] = []
        for (member, file) in files(in: settings.json, "") {
            let path = FileAccess.resolve(file, beside: settings.path)
            if let user, !user.mayRead(path) {
                problems.append(
                    ("\(member): the service's user '\(ServiceUser.name)' cannot read \(path)", SecretFile.hiding(path))
                )
            }
            guard member.hasSuffix("caFile") || member.hasPrefix("client") else { continue }
            if let form = try? CertificateFile.problem(in: path) {
                problems.append(("\(member): \(form)", "give the PEM file as \(member)"))
            }
        }
        if let user, let path = settings.path, !user.mayRead(path) {
            problems.append(("the service's user '\(ServiceUser.name)' cannot read \(path)", SecretFile.hiding(path)))
        }
        return problems
    }

    /// The service's user, if this command may speak for it: root, and the state of the installed service.
    static func user(of settings: Settings) -> ServiceUser? {
        guard geteuid() == 0, settings.stateDirectory == Settings.defaultStateDirectory else { return nil }
        return ServiceUser()
    }

    /// Every member that names a file, also of trackers, of `rooms` and of `bluetoothProxy`.
    static func files(in json: JSONValue, _ path: String) -> [(member: String, file: String)] {
        var found: [(member: String, file: String)] = []
        for (name, value) in (json.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            if members.contains(name), let file = value.string, !file.isEmpty { found.append((path + name, file)) }
            if name == "rooms" || name == "bluetoothProxy" { found += files(in: value, "\(name).") }
            guard name == "trackers" else { continue }
            for (index, tracker) in (value.array ?? []).enumerated() {
                found += files(in: tracker, "trackers[\(index)].")
            }
        }
        return found
    }
}
