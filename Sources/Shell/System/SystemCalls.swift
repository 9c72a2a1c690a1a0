import Glibc

/// Makes a system call, and repeats it as long as signals interrupt it. Not for close(2), which must not be repeated.
///
/// - Parameter name: The call, as its manual page names it.
/// - Returns: The result of the call, not negative.
@discardableResult
package func systemCall<Result: SignedInteger>(_ name: String, _ call: () -> Result) throws(SystemError) -> Result {
    while true {
        let result = call()
        guard result < 0 else { return result }
        let code = errno
        guard code == EINTR else { throw SystemError(name, code: code) }
    }
}

/// Writes all of `bytes`, and waits if the descriptor is non-blocking and full.
package func writeAll(_ bytes: [UInt8], to descriptor: CInt) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
        do throws(SystemError) {
            let count = try systemCall("write") { rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } }
            // A result of 0 would be repeated forever.
            guard count > 0 else { throw SystemError("write", code: EIO) }
            rest = rest.dropFirst(count)
        } catch {
            guard error.code == EAGAIN else { throw error }
            // Another program that shares the terminal or pipe has made it non-blocking.
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            try systemCall("poll") { poll(&wait, 1, -1) }
        }
    }
}

/// Closes a file that was written. A network file system reports a full disk here.
func closeWritten(_ descriptor: CInt) throws(SystemError) {
    // After EINTR the descriptor is closed, as after any other error.
    guard close(descriptor) == 0 || errno == EINTR else { throw SystemError("close", code: errno) }
}

/// The type bits of a mode.
func kind(_ status: stat) -> mode_t { status.st_mode & S_IFMT }
