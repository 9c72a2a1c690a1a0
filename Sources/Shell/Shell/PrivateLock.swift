import Glibc
package import System

/// Keeps other programs from changing a private file, until the end of this value. The lock is on an empty file beside it,
/// because a service holds a lock on its state directory all the time.
package struct PrivateLock: ~Copyable {
    private let descriptor: CInt

    /// - Parameter waits: Whether to wait until another program has released the lock.
    /// - Returns: nil if it does not wait, and another program has the lock.
    package init?(_ name: String, in directory: String, waits: Bool) throws(Failure) {
        try PrivateFile.check(name, directory)
        let path = "\(directory)/\(name)"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            let code: ExitCode = errno == EACCES ? .noPermission : .cannotCreate
            throw Failure(code, "cannot open \(path): \(FileAccess.lastError)")
        }
        var owner = stat()
        if geteuid() == 0, stat(directory, &owner) == 0 { fchown(descriptor, owner.st_uid, owner.st_gid) }
        var result = flock(descriptor, LOCK_EX | (waits ? 0 : LOCK_NB))
        while result != 0, errno == EINTR { result = flock(descriptor, LOCK_EX | (waits ? 0 : LOCK_NB)) }
        guard result == 0 else {
            let reason = errno
            close(descriptor)
            if reason == EWOULDBLOCK { return nil }
            throw Failure(.inputOutput, "cannot lock \(path): \(systemMessage(reason))")
        }
        self.descriptor = descriptor
    }

    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
