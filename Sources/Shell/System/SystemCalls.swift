import Glibc

/// Repeats a system call that a signal interrupted.
package func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
    while true {
        let result = call()
        if result < 0, errno == EINTR { continue }
        return result
    }
}

/// Writes all of `bytes`, and waits if the descriptor is non-blocking and full.
///
/// - Returns: false with `errno` set.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let count = retrying { write(descriptor, part.baseAddress, part.count) }
        if count > 0 {
            rest = rest.dropFirst(count)
        } else if count < 0, errno == EAGAIN {
            // Another program that shares the terminal or pipe has made it non-blocking.
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard retrying({ poll(&wait, 1, -1) }) >= 0 else { return false }
        } else {
            // A write that accepts 0 bytes sets no errno; it would be repeated for ever.
            if count == 0 { errno = EIO }
            return false
        }
    }
    return true
}

/// The kind bits of a mode.
func kind(_ status: stat) -> mode_t { status.st_mode & S_IFMT }
