package import Glibc

/// A directory of another user in which root works, as the command line does beside the service.
///
/// That user can put anything into it: a link to a file of root, a hard link, a FIFO. So root resolves the directory
/// once, and uses only regular files that belong to that user or to root and have a single name.
package struct OwnedDirectory: Hashable, Sendable {
    /// The path without symbolic links.
    package let path: String
    /// nil if the process is not root, so that the system checks its rights, or if there is no directory.
    private let owner: uid_t?

    /// - Throws: for root, if users other than the owner can write to the directory.
    package init(_ path: String, as user: uid_t = geteuid()) throws(OwnershipError) {
        let resolved = AtomicFile.resolved(path)
        self.path = resolved
        var status = stat()
        guard user == 0, stat(resolved, &status) == 0 else {
            owner = nil
            return
        }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw OwnershipError(
                description: "\(path) can be written by others than its owner, so root does not trust what is in it; "
                    + "run: chmod go-w \(path)")
        }
        owner = status.st_uid
    }

    /// The path of a file in the directory.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Checks a file of the directory before it is opened without following a link.
    ///
    /// - Throws: if the file exists and is not a regular file, or if, for root, its owner may have linked it here from
    ///   somewhere else.
    package func check(_ name: String) throws(OwnershipError) {
        let path = file(name)
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard kind(status) == S_IFREG else {
            let what = kind(status) == S_IFLNK ? "a symbolic link" : "not a regular file"
            throw OwnershipError(
                description: "\(path) is \(what), and the state must not be anywhere else; move it away, or use "
                    + "--state-dir for a state in another directory")
        }
        // Files that only root can create need no check.
        guard let owner, owner != 0 else { return }
        guard status.st_uid == owner || status.st_uid == 0, status.st_nlink == 1 else {
            throw OwnershipError(
                description: "\(path) does not belong to the owner of its directory alone (another owner, or another "
                    + "name elsewhere), so root does not write to it; move it away")
        }
    }
}
