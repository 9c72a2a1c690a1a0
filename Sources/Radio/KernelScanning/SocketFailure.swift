import Glibc

/// An error of a system call on a socket, by number.
struct SocketFailure: Error {
    let number: CInt
    var description: String { String(cString: strerror(number)) }
}
