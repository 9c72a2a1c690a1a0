/// Why a file cannot be used: the file, the operation, and the error of the system.
package struct FileError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// A system call failed.
        case system(SystemError)
        /// The path leads to something that is not a regular file.
        case notRegular
        /// The file is longer than `limit` bytes.
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

    /// Makes system calls, and adds the operation and the file to their errors.
    @discardableResult
    static func wrapping<Result>(
        _ operation: Operation, _ path: String, _ calls: () throws(SystemError) -> Result
    ) throws(FileError) -> Result {
        do throws(SystemError) { return try calls() } catch { throw FileError(operation, path, .system(error)) }
    }

    /// The errno, if a system call failed.
    package var code: Int32? {
        if case .system(let error) = reason { error.code } else { nil }
    }
}

extension FileError: CustomStringConvertible {
    package var description: String {
        switch reason {
        case .system(let error): "cannot \(operation.rawValue) \(path): \(error.message)"
        case .notRegular: "cannot \(operation.rawValue) \(path): it is not a regular file"
        case .tooLong(let limit): "\(path) is larger than \(limit >> 20) MiB"
        }
    }
}
