import Glibc
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
