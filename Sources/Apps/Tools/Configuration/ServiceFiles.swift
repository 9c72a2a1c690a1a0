import Glibc
import JSON
import Messaging
import Shell
import System

/// The user that the package makes for the services.
struct ServiceUser {
    static let name = "ibeacon-gateway"

    let user: uid_t
    let groups: Set<gid_t>

    init(user: uid_t, groups: Set<gid_t>) { (self.user, self.groups) = (user, groups) }

    /// - Returns: nil if there is no such user.
    init?(named name: String = Self.name) {
        guard let entry = getpwnam(name) else { return nil }
        var count: Int32 = 64
        var list = [gid_t](repeating: 0, count: Int(count))
        guard getgrouplist(name, entry.pointee.pw_gid, &list, &count) >= 0 else { return nil }
        self.init(user: entry.pointee.pw_uid, groups: Set(list.prefix(Int(count))))
    }

    /// Whether this user may read a file, by its mode and those of the directories above it. A file that is not there can be read.
    func mayRead(_ path: String) -> Bool {
        let path = AtomicFile.resolved(path)
        let levels = path.split(separator: "/")
        for count in levels.indices {
            let above = "/" + levels.prefix(count).joined(separator: "/")
            guard may(1, above) else { return false }
        }
        return may(4, path)
    }

    /// - Parameter right: 4: read, 1: search.
    private func may(_ right: mode_t, _ path: String) -> Bool {
        var status = stat()
        guard user != 0, stat(path, &status) == 0 else { return true }
        let shift: mode_t = status.st_uid == user ? 6 : groups.contains(status.st_gid) ? 3 : 0
        return status.st_mode >> shift & right != 0
    }
}

/// The files that the settings name.
enum ServiceFiles {
    private static let members = [
        "passwordFile", "encryptionKeyFile", "caFile", "clientCertificateFile", "clientKeyFile",
    ]

    /// What is wrong with the files: with their form, and for root those that the service cannot read.
    ///
    /// - Parameter user: The service's user; nil: this is the service's user, or the service is another program's.
    static func problems(_ settings: Settings, for user: ServiceUser?) -> [(text: String, cure: String)] {
        var problems: [(text: String, cure: String)] = []
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

    /// Every member that names a file, also of trackers and of `rooms`.
    private static func files(in json: JSONValue, _ path: String) -> [(member: String, file: String)] {
        var found: [(member: String, file: String)] = []
        for (name, value) in (json.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            if members.contains(name), let file = value.string, !file.isEmpty { found.append((path + name, file)) }
            if name == "rooms" { found += files(in: value, "rooms.") }
            guard name == "trackers" else { continue }
            for (place, tracker) in (value.array ?? []).enumerated() {
                found += files(in: tracker, "trackers[\(place)].")
            }
        }
        return found
    }
}
