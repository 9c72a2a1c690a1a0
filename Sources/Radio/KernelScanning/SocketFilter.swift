import CBluetooth
import Glibc

/// Lets the kernel choose with a program of the classic Berkeley Packet Filter what a socket gets.
///
/// A kernel that does not take the program wakes this one for messages that it then ignores.
func attach(_ program: [sock_filter], to descriptor: CInt) {
    var program = program
    program.withUnsafeMutableBufferPointer { instructions in
        var whole = sock_fprog(len: UInt16(instructions.count), filter: instructions.baseAddress)
        setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &whole, socklen_t(MemoryLayout<sock_fprog>.size))
    }
}
