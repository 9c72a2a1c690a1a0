import Glibc
import Shell
import System

/// Reads the lines of a file; `-` is standard input.
struct LineReader: ~Copyable {
    private let path: String
    private let longest: Int
    private let descriptor: CInt
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    init(path: String, longest: Int) throws(Failure) {
        self.path = path
        self.longest = longest
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(errno == EACCES ? .noPermission : .noInput, "cannot read \(path): \(FileAccess.lastError)")
        }
    }

    deinit { if path != "-", descriptor >= 0 { close(descriptor) } }

    /// The next line without its end; nil at the end of the file.
    mutating func next() throws(Failure) -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return buffer[start..<end]
            }
            searched = buffer.count
            if isAtEnd {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return buffer[start...]
            }
            guard buffer.count - start <= longest else {
                throw Failure(.badData, "\(path): a line has more than \(longest >> 20) MiB; that is not a recording")
            }
            if start > 0 {
                buffer.removeFirst(start)
                searched -= start
                start = 0
            }
            try fill()
        }
    }

    private mutating func fill() throws(Failure) {
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Failure(.inputOutput, "cannot read \(path): \(FileAccess.lastError)")
            }
            if count == 0 { isAtEnd = true } else { buffer += chunk[..<count] }
            return
        }
    }
}
