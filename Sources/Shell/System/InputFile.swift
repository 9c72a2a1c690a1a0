import Glibc

/// Reads whole files that a person or the service user named.
package enum InputFile {
    /// Configuration and region files are small; a larger file is something else.
    package static let longest = 64 << 20

    package enum Kind: Sendable {
        /// Reading it never waits for another program, so the event loop may do it.
        case regular
        /// Also a pipe or a device, for which a command line may wait.
        case any
    }

    /// Opens a file for reading. For `.regular` the open never blocks, not even for a FIFO without a writer.
    ///
    /// - Returns: a descriptor that the caller closes.
    package static func open(_ path: String, _ kind: Kind) throws(FileError) -> CInt {
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (kind == .regular ? O_NONBLOCK : 0)
        let descriptor = try FileError.wrapping(.read, path) { () throws(SystemError) in
            try systemCall("open") { Glibc.open(path, flags) }
        }
        guard kind == .regular else { return descriptor }
        var status = stat()
        guard fstat(descriptor, &status) == 0, System.kind(status) == S_IFREG else {
            close(descriptor)
            throw FileError(.read, path, .notRegular)
        }
        return descriptor
    }

    /// The bytes of a file.
    ///
    /// - Throws: if the file is not of that kind, cannot be read, or has more than `limit` bytes.
    package static func read(
        _ path: String, _ kind: Kind = .regular, limit: Int = longest
    ) throws(FileError) -> [UInt8] {
        let descriptor = try open(path, kind)
        defer { close(descriptor) }
        return try readAll(descriptor, path, limit: limit)
    }

    /// The bytes of standard input.
    package static func readStandardInput(limit: Int = longest) throws(FileError) -> [UInt8] {
        try readAll(STDIN_FILENO, "standard input", limit: limit)
    }

    private static func readAll(_ descriptor: CInt, _ path: String, limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = try FileError.wrapping(.read, path) { () throws(SystemError) in
                try systemCall("read") { Glibc.read(descriptor, &buffer, buffer.count) }
            }
            guard count > 0 else { return bytes }
            bytes += buffer[0..<count]
            guard bytes.count <= limit else { throw FileError(.read, path, .tooLong(limit: limit)) }
        }
    }
}
