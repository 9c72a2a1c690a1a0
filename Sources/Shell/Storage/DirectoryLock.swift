import Glibc

/// Prevents a second gateway from using the state directory. The lock is on the directory itself: it needs no file,
/// works on a read-only file system, and ends with the process in every case.
struct DirectoryLock: ~Copyable {
    private let descriptor: CInt

    init(_ directory: String) throws(StoreError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(operation: "open", path: directory, errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            close(descriptor)
            if reason == EWOULDBLOCK { throw .inUse(path: directory) }
            throw .system(operation: "lock", path: directory, errno: reason)
        }
        self.descriptor = descriptor
    }

    deinit {
        // A child process that is just being started has a copy of the descriptor until it executes, and closing ours
        // would leave the lock with it.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
