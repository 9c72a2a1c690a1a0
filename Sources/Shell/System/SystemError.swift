import Glibc

/// A system or library call that failed, with enough to find the line that made it.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call, as its manual page names it.
    package let operation: String
    /// The errno value, positive.
    package let code: Int32

    package init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    package var description: String { "\(operation): \(message)" }

    /// The system's text, without the call.
    package var message: String { systemMessage(code) }
}

/// The system's text for an errno value.
package func systemMessage(_ code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        guard let space = buffer.baseAddress, strerror_r(code, space, buffer.count) == 0 else {
            return "error \(code)"
        }
        return String(cString: space)
    }
}

/// The libsystemd convention: a negative return value is an errno.
@discardableResult
package func checked(_ operation: String, _ result: Int32) throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(operation, code: -result) }
    return result
}
