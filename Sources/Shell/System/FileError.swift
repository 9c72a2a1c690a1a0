import Glibc

/// Why a file cannot be used: the file, the operation, and the error of the system.
package struct FileError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// A system call failed with this errno.
        case system(Int32)
        /// The path leads to something that is not a regular file.
        case notRegular
        /// The file is longer than the reader takes, in bytes.
        case tooLong(limit: Int)
    }

    package enum Operation: String, Hashable, Sendable {
        case read, write, create
    }

    package let operation: Operation
    package let path: String
    package let reason: Reason

    package init(_ operation: Operation, _ path: String, _ reason: Reason) {
        self.operation = operation
        self.path = path
        self.reason = reason
    }

    /// Uses the errno of the last failed call.
    static func last(_ operation: Operation, _ path: String) -> FileError {
        FileError(operation, path, .system(errno))
    }

    /// The errno, if a system call failed.
    package var code: Int32? {
        if case .system(let code) = reason { code } else { nil }
    }
}

extension FileError: CustomStringConvertible {
    package var description: String {
        switch reason {
        case .system(let code): "cannot \(operation.rawValue) \(path): \(String(cString: strerror(code)))"
        case .notRegular: "cannot \(operation.rawValue) \(path): it is not a regular file"
        case .tooLong(let limit): "\(path) is larger than \(limit >> 20) MiB"
        }
    }
}
