import Glibc
import System

/// An open file that is closed with its owner. Standard input and output are left open.
struct FileDescriptor: ~Copyable {
    let number: CInt
    private let isOurs: Bool

    private init(number: CInt, isOurs: Bool) {
        self.number = number
        self.isOurs = isOurs
    }

    deinit {
        // After EINTR, close is not called again: on Linux the descriptor is gone either way.
        if isOurs { _ = close(number) }
    }

    /// Opens `path` for reading; `-` is standard input unless `kind` is `.regular`.
    static func reading(_ path: String, _ kind: InputFile.Kind) throws(CaptureError) -> FileDescriptor {
        guard path != "-" || kind == .regular else { return FileDescriptor(number: STDIN_FILENO, isOurs: false) }
        do throws(FileError) {
            return FileDescriptor(number: try InputFile.open(path, kind), isOurs: true)
        } catch {
            guard case .system(let error) = error.reason else { throw CaptureError(file: path, reason: .isNoFile) }
            throw CaptureError(file: path, reason: .cannotOpen(error))
        }
    }

    /// Opens `path` for writing, empty and readable only for its owner, because a recording reveals who is near. `-` is
    /// standard output.
    static func writing(_ path: String) throws(CaptureError) -> FileDescriptor {
        guard path != "-" else { return FileDescriptor(number: STDOUT_FILENO, isOurs: false) }
        do throws(SystemError) {
            let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
            return FileDescriptor(
                number: try systemCall("open") { open(path, flags, mode_t(0o600)) }, isOurs: true)
        } catch {
            throw CaptureError(file: path, reason: .cannotOpen(error))
        }
    }

    var isDirectory: Bool { mode == S_IFDIR }

    private var mode: mode_t? {
        var status = stat()
        guard fstat(number, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT
    }

    /// Reads the available bytes into `buffer` from `start` on.
    ///
    /// - Returns: The number of bytes, 0 at the end.
    func read(into buffer: inout [UInt8], from start: Int) throws(SystemError) -> Int {
        try systemCall("read") {
            buffer.withUnsafeMutableBytes { bytes in
                let free = UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
                return Glibc.read(number, free.baseAddress, free.count)
            }
        }
    }

    /// Writes all of `bytes`.
    func write(_ bytes: [UInt8]) throws(SystemError) { try writeAll(bytes, to: number) }
}
