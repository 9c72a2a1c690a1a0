import PageServer
package import System

/// The token of the status page: a file in the state directory that only the service may read.
package enum StatusToken {
    private static let fileName = "status-token"

    package static func path(in directory: String) -> String { "\(directory)/\(fileName)" }

    /// - Returns: nil if there is no token yet.
    /// - Throws: if the file cannot be read, is not a regular file of the directory's owner, or can be read by others.
    package static func read(in directory: String) throws(Failure) -> String? {
        guard let bytes = try PrivateFile.read(fileName, in: directory) else { return nil }
        let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard line.utf8.count >= StatusServerSettings.shortestToken else {
            throw Failure(
                .configuration,
                "\(path(in: directory)) holds no token; remove it, and 'status --token' makes a new one")
        }
        return line
    }

    /// Makes a token. If root makes it, the file belongs to the owner of the state directory: the service.
    package static func make(in directory: String) throws(Failure) -> String {
        // The system's generator uses the kernel's getrandom(2).
        let digits = Array("0123456789abcdef")
        let token = String((0..<48).map { _ in digits[Int.random(in: 0..<16)] })
        try PrivateFile.write(Array((token + "\n").utf8), to: fileName, in: directory)
        return token
    }
}
