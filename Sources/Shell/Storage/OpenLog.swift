import Glibc

/// The log of the open database, `state.db-wal` and `state.db-shm`, as the files that the connection has open.
///
/// A clean-up may remove them while the service runs. The connection would go on writing into files without a name: a kill
/// would lose it all, and nothing that another process writes would be seen.
struct OpenLog {
    private static let suffixes = ["-wal", "-shm"]

    private struct File: Hashable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, number) = (status.st_dev, status.st_ino)
        }
    }

    private let path: String
    /// nil for a file that the connection did not make; nothing can be said about it.
    private let files: [File?]

    /// - Parameter path: The database, whose log is open now.
    init(of path: String) {
        self.path = path
        files = Self.suffixes.map { File(path + $0) }
    }

    /// Whether a file of the log was removed, or replaced, since it was opened.
    var isLost: Bool { Self.suffixes.indices.contains(where: isLost) }

    /// Whether that was the log itself, and not only the index of it. What others write then stands in a log of its own.
    var isLogItselfLost: Bool { isLost(0) }

    private func isLost(_ index: Int) -> Bool {
        files[index] != nil && File(path + Self.suffixes[index]) != files[index]
    }
}
